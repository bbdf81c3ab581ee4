/// Where every value passes on its way in.
func encodeItem<T: Encodable>(_ value: T, into output: EncodingOutput, under key: (any CodingKey)?, in node: PathNode)
    throws
{
    func shaped<S: ShapedEncodable>(_ type: S.Type) throws {
        // S is T, which the compiler cannot know; a cast of the value would cost more than writing most of them.
        try unsafeBitCast(value, to: S.self).write(to: output, at: Place(node: node, key: key))
    }
    if output.refusesClasses { try refuseClasses(T.self, at: Place(node: node, key: key)) }
    if let type = ShapedTypes.answer(for: T.self).encodable { return try shaped(type) }
    try ItemEncoder.encode(value, into: output, under: key, in: node)
}

/// A part of a state as a tree, for patches.
func encodeTree<T: Encodable>(_ value: T, at place: Place, refusesClasses: Bool = false) throws -> Value {
    if let value = value as? any Primitive { return value.tree }
    let bytes = try EncodingOutput.run(refusesClasses: refusesClasses) { output in
        try encodeItem(value, into: output, under: place.key, in: place.node)
        return output.writer.bytes
    }
    // A tag is a level when it is read, though none for the type that wrote it; what was written is within the limits.
    var reader = CBORReader(bytes, limits: CodingLimits(depthMax: .max))
    return try reader.value()
}

func refuseClasses(_ type: Any.Type, at place: Place) throws(CodingFailure) {
    if type is AnyObject.Type {
        let advice = "its changes cannot be seen; make it a struct"
        throw place.failure(.unencodable, "\(type) is a class: \(advice)")
    }
    if let shaped = type as? any ShapedEncodable.Type {
        for part in shaped.partTypes { try refuseClasses(part, at: place) }
    }
}
