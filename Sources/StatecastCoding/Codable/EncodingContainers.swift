struct ItemKeyedEncodingContainer<Key: CodingKey>: ItemKeyedEncoding {
    let encoder: ItemEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) throws {
        try encoder.begin(key.component)
        encoder.contents.pointee.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let state = try encoder.saveState()
        do {
            try encoder.begin(key.component)
            try encodeItem(value, into: encoder.output, under: key, in: encoder)
        } catch {
            encoder.rollBack(to: state)
            throw error
        }
    }

    /// Leaves a nil field out, but checks its type.
    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        if encoder.contents.pointee.refusesClasses, let type = TypeTraits.of(T.self).classType {
            throw CodingFailure.classInstance(type, at: CodingPath(node: encoder, key: key))
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        encoder.nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder.nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder.nested(DataKey.superKey) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { encoder.nested(key) }
}

/// Types that encode primitives use these overloads, which need no lookup of the type, and are specialized.
extension ItemKeyedEncodingContainer {
    mutating func encode(_ value: Bool, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: String, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Double, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Float, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int8, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int16, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int32, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: Int64, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt8, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt16, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt32, forKey key: Key) throws { try encoder.put(value, key.component) }
    mutating func encode(_ value: UInt64, forKey key: Key) throws { try encoder.put(value, key.component) }
}

struct ItemUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: ItemEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    mutating func encodeNil() throws {
        try encoder.beginElement()
        encoder.contents.pointee.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let state = try encoder.saveState()
        do {
            let key = DataKey.index(count)
            try encoder.beginElement()
            try encodeItem(value, into: encoder.output, under: key, in: encoder)
        } catch {
            encoder.rollBack(to: state)
            throw error
        }
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { nested() }

    private func nested() -> ItemEncoder { encoder.nested(DataKey.index(count)) }
}
