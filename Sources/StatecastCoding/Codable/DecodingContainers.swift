struct ItemKeyedDecodingContainer<Key: CodingKey>: ItemKeyedDecoding {
    let decoder: ItemDecoder

    var codingPath: [any CodingKey] { decoder.path }

    var allKeys: [Key] {
        // The usual case: an enum with payloads looks for its case.
        if decoder.fieldCount == 1 {
            guard let key = decoder.key(0, as: Key.self) else { return [] }
            return [key]
        }
        return (0..<decoder.fieldCount).compactMap { decoder.key($0, as: Key.self) }
    }

    func contains(_ key: Key) -> Bool { decoder.field(key.component) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder.requiredField(key.component).isNull }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        var cursor = try decoder.requiredField(key.component)
        return try decodeItem(type, &cursor, under: key, in: decoder)
    }

    /// A null is an absent value, unless the type has a null of its own (`Int??`).
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard var cursor = decoder.field(key.component), !cursor.isNull || type is any AnyOptional.Type else {
            return nil
        }
        return try decodeItem(type, &cursor, under: key, in: decoder)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.requiredNested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.requiredNested(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { superDecoder(DataKey.superKey) }
    func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

    /// Returns a decoder of null if the part is missing.
    private func superDecoder(_ key: some CodingKey) -> any Decoder {
        guard let offset = decoder.offset(of: key.component) else {
            return ItemDecoder(DecodingSource(.null), at: 0, under: key, in: decoder)
        }
        return decoder.nested(at: offset, key)
    }
}

/// Types that decode primitives use these overloads, which need no lookup of the type. (With generic ones, which are
/// not specialized, decoding a row takes 44 % more instructions.)
extension ItemKeyedDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decoder.primitive(key.component) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try decoder.primitive(key.component) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try decoder.primitive(key.component) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try decoder.primitive(key.component) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try decoder.primitive(key.component) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try decoder.primitive(key.component) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try decoder.primitive(key.component) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try decoder.primitive(key.component) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try decoder.primitive(key.component) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try decoder.primitive(key.component) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try decoder.primitive(key.component) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try decoder.primitive(key.component) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try decoder.primitive(key.component) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try decoder.primitive(key.component) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try decoder.optional(key.component) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try decoder.optional(key.component) }
}

struct ItemUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    private var cursor: ItemCursor
    private let elements: Int
    private let node: CodingPathNode
    private(set) var currentIndex = 0

    init(cursor: ItemCursor, elements: Int, node: CodingPathNode) {
        self.cursor = cursor
        self.elements = elements
        self.node = node
    }

    var codingPath: [any CodingKey] { node.path }
    var count: Int? { elements }
    var isAtEnd: Bool { currentIndex >= elements }

    /// Skips the next element if it is null.
    mutating func decodeNil() throws -> Bool {
        try requireElement()
        guard cursor.readNull() else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try requireElement()
        var next = cursor
        let result = try decodeItem(type, &next, under: key, in: node)
        cursor = next
        currentIndex += 1
        return result
    }

    mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
        guard !isAtEnd else { return nil }
        if !(type is any AnyOptional.Type), try decodeNil() { return nil }
        return try decode(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try nested().container(keyedBy: type)
        pass()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try nested().unkeyedContainer()
        pass()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try nested()
        pass()
        return decoder
    }

    private var key: DataKey { .index(currentIndex) }

    private func requireElement() throws(CodingFailure) {
        guard isAtEnd else { return }
        let place = CodingPath(node: node, key: key)
        throw place.failure(.missingValue, "expected another element, but the array has \(elements)")
    }

    private func nested() throws -> ItemDecoder {
        try requireElement()
        return ItemDecoder(cursor, key: key, in: node)
    }

    private mutating func pass() {
        cursor.skip()
        currentIndex += 1
    }
}
