struct ItemKeyedEncodingContainer<Key: CodingKey>: ItemKeyedEncoding {
    let encoder: ItemEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil(forKey key: Key) throws {
        try encoder.begin(key.component)
        encoder.contents.pointee.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        let state = try encoder.settledState()
        do {
            try encoder.begin(key.component)
            try encodeItem(value, into: encoder.output, under: key, in: encoder)
        } catch {
            encoder.takeBack(to: state)
            throw error
        }
    }

    /// A field that is nil is left out, but its type counts.
    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
        if let value { return try encode(value, forKey: key) }
        if encoder.contents.pointee.refusesClasses, let type = ShapedTypes.answer(for: T.self).classType {
            throw CodingFailure.classInstance(type, at: Place(node: encoder, key: key))
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

struct ItemUnkeyedEncodingContainer: UnkeyedEncodingContainer {
    let encoder: ItemEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    mutating func encodeNil() throws {
        try encoder.beginElement()
        encoder.contents.pointee.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let state = try encoder.settledState()
        do {
            let key = DataKey.index(count)
            try encoder.beginElement()
            try encodeItem(value, into: encoder.output, under: key, in: encoder)
        } catch {
            encoder.takeBack(to: state)
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

struct ItemSingleValueEncodingContainer: SingleValueEncodingContainer {
    let encoder: ItemEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    mutating func encodeNil() throws {
        try encoder.beginSingle()
        encoder.contents.pointee.writer.null()
    }

    mutating func encode<T: Encodable>(_ value: T) throws {
        let state = try encoder.settledState()
        do {
            try encoder.beginSingle()
            guard let parent = encoder.parent else { preconditionFailure("an encoder stands in no container") }
            try encodeItem(value, into: encoder.output, under: encoder.key, in: parent)
        } catch {
            encoder.takeBack(to: state)
            throw error
        }
    }
}
