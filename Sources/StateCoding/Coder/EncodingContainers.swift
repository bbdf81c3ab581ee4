struct TreeKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) throws {
        encoder.set(key.component, .value(.null))
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        try encoder.check()
        encoder.set(key.component, .value(try encodeTree(value, at: Place(node: encoder.node, key: key))))
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        child(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        child(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { child(DataKey.superKey) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { child(key) }

    private func child(_ key: any CodingKey) -> TreeEncoder {
        let child = TreeEncoder(place: Place(node: encoder.node, key: key))
        encoder.set(key.component, .open(child))
        return child
    }
}

struct TreeUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.slots.count }

    mutating func encodeNil() throws {
        encoder.append(.value(.null))
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        try encoder.check()
        encoder.append(.value(try encodeTree(value, at: place)))
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        child().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { child().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { child() }

    private var place: Place { Place(node: encoder.node, key: DataKey.index(count)) }

    private func child() -> TreeEncoder {
        let child = TreeEncoder(place: place)
        encoder.append(.open(child))
        return child
    }
}

struct TreeSingleValueEncodingContainer: SingleValueEncodingContainer {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws {
        try encoder.setSingle(.null)
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        try encoder.setSingle(try encodeTree(value, at: encoder.place))
    }
}
