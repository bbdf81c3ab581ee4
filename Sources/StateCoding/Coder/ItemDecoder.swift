/// The `Decoder` that a type's own `init(from:)` gets. Once it is asked for a container, it is the node of the path where
/// the parts stand.
final class ItemDecoder: PathNode, Decoder {
    private let source: DecodingSource
    private let start: Int
    /// Where the item ends, once that is known.
    private var end: Int?
    /// The parts, once the type asked for a keyed container.
    private var fields: EncodedFields?

    init(_ cursor: ItemCursor, key: (any CodingKey)?, in node: PathNode) {
        source = cursor.source
        start = cursor.offset
        super.init(under: key, in: node)
    }

    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private var cursor: ItemCursor { ItemCursor(source: source, offset: start) }

    /// Has a type decode itself; the cursor moves behind what it read.
    static func decode<T: Decodable>(
        _ type: T.Type,
        _ cursor: inout ItemCursor,
        under key: (any CodingKey)?,
        in node: PathNode
    ) throws -> T {
        let decoder = ItemDecoder(cursor, key: key, in: node)
        do {
            let result = try T(from: decoder)
            cursor.offset = decoder.end ?? cursor.source.end(of: cursor.offset)
            return result
        } catch {
            throw CodingFailure(error, path: decoder.path)
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if fields == nil {
            var cursor = cursor
            cursor.skipTags()
            fields = EncodedFields(&cursor)
            guard fields != nil else { throw mismatch("a map") }
            try checkDepth()
            end = cursor.offset
        }
        return KeyedDecodingContainer(ItemKeyedDecodingContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        var cursor = cursor
        cursor.skipTags()
        if let count = cursor.takeArray() {
            try checkDepth()
            return ItemUnkeyedDecodingContainer(cursor: cursor, elements: count, node: self)
        }
        // A type may read its bytes one by one.
        if let bytes = cursor.takeBytes() {
            try checkDepth()
            let numbers = DecodingSource(.array(bytes.map { .unsigned(UInt64($0)) }))
            var cursor = ItemCursor(source: numbers, offset: 0)
            let count = cursor.takeArray() ?? 0
            return ItemUnkeyedDecodingContainer(cursor: cursor, elements: count, node: self)
        }
        throw mismatch("an array")
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func mismatch(_ expected: String) -> CodingFailure {
        cursor.mismatch(expected, at: Place(node: parent ?? self, key: key))
    }

    // MARK: Fields

    var keys: [Value] { fields?.keys ?? [] }

    func field(_ name: String) -> ItemCursor? {
        guard let offset = fields?.offset(of: name) else { return nil }
        return ItemCursor(source: source, offset: offset)
    }

    func requiredField(_ name: String) throws(CodingFailure) -> ItemCursor {
        if let cursor = field(name) { return cursor }
        throw failure(.missingKey, "missing the key \"\(name)\"")
    }

    // The key is generic in the containers; by its name alone these can be specialised for each primitive.

    /// What a primitive field holds.
    func primitive<P: Primitive>(_ name: String) throws -> P {
        var cursor = try requiredField(name)
        if let usual = P.readUsual(&cursor) { return usual }
        return try P.read(&cursor, at: Place(node: self, key: DataKey.name(name)))
    }

    /// What a primitive field holds; a null is an absent value.
    func primitiveIfPresent<P: Primitive>(_ name: String) throws -> P? {
        guard var cursor = field(name), !cursor.isNull else { return nil }
        if let usual = P.readUsual(&cursor) { return usual }
        return try P.read(&cursor, at: Place(node: self, key: DataKey.name(name)))
    }
}

/// The item as one value.
extension ItemDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { cursor.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        var cursor = cursor
        return try decodeItem(type, &cursor, under: key, in: parent ?? self)
    }
}

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
    var cursor = ItemCursor(source: DecodingSource(value), offset: 0)
    return try decodeItem(type, &cursor, under: place.key, in: place.node)
}
