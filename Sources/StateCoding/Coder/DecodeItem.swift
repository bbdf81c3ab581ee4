/// Where every value passes on its way out.
func decodeItem<T: Decodable>(
    _ type: T.Type,
    _ cursor: inout ItemCursor,
    under key: (any CodingKey)?,
    in node: PathNode
) throws -> T {
    func shaped<S: ShapedDecodable>(_ type: S.Type) throws -> T {
        // S is T, which the compiler cannot know.
        unsafeBitCast(try type.read(&cursor, at: Place(node: node, key: key)), to: T.self)
    }
    if let type = ShapedTypes.answer(for: T.self).decodable { return try shaped(type) }
    return try ItemDecoder.decode(type, &cursor, under: key, in: node)
}

/// A typed value from a part of a tree.
func decodeTree<T: Decodable>(_ type: T.Type, from value: Value, at place: Place) throws -> T {
    try DecodingSource.run(value) { source in
        var cursor = ItemCursor(source: source, offset: 0)
        return try decodeItem(type, &cursor, under: place.key, in: place.node)
    }
}
