struct FieldPatchContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FieldPatchDecoder

    var codingPath: [any CodingKey] { decoder.path }
    var allKeys: [Key] { decoder.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.contains(key.component) }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(key.component) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.decode(type, key.component)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try decoder.decodeIfPresent(type, key.component)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.nested(type, key.component)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.tree(key.component).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder.tree(DataKey.superKey.component) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.tree(key.component) }
}
