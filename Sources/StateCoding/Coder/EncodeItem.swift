/// Where every value passes on its way in.
func encodeItem<T: Encodable>(_ value: T, into output: EncodingOutput, under key: (any CodingKey)?, in node: PathNode)
    throws
{
    func shaped<S: ShapedEncodable>(_ type: S.Type) throws {
        // S is T, which the compiler cannot know; a cast of the value would cost more than writing most of them.
        try unsafeBitCast(value, to: S.self).write(to: output, at: Place(node: node, key: key))
    }
    let known = ShapedTypes.answer(for: T.self)
    if let type = known.classType, output.contents.pointee.refusesClasses {
        throw CodingFailure.classInstance(type, at: Place(node: node, key: key))
    }
    if let type = known.encodable { return try shaped(type) }
    try ItemEncoder.encode(value, into: output, under: key, in: node)
}

/// A part of a state as a tree, for patches: of values alone, as the changes of a class would go unseen.
func encodeTree<T: Encodable>(_ value: T, at place: Place) throws -> Value {
    if let value = value as? any Primitive { return try value.tree(at: place) }
    let bytes = try EncodingOutput.run(refusesClasses: true) { output in
        try encodeItem(value, into: output, under: place.key, in: place.node)
        return output.writer.bytes
    }
    // A tag is a level when it is read, though none for the type that wrote it.
    var reader = CBORReader(checked: bytes)
    return try reader.value()
}
