struct TreeKeyedDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let map: ValueMap
    let node: PathNode
    let place: Place

    var codingPath: [any CodingKey] { place.codingPath }

    var allKeys: [Key] {
        map.keys.compactMap { key in
            key.textValue.flatMap { Key(stringValue: $0) } ?? key.intValue.flatMap { Key(intValue: $0) }
        }
    }

    func contains(_ key: Key) -> Bool { found(key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool { try required(key).isNull }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decodeTree(type, from: required(key), at: Place(node: node, key: key))
    }

    /// A null is an absent value, unless the type has a null of its own (`Int??`).
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        guard let value = found(key), !value.isNull || type is any AnyOptional.Type else { return nil }
        return try decodeTree(type, from: value, at: Place(node: node, key: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder(required(key), key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(required(key), key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        let key = DataKey.superKey
        return decoder(found(key) ?? .null, key)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        decoder(found(key) ?? .null, key)
    }

    private func found(_ key: some CodingKey) -> Value? { map[.text(key.component)] }

    private func required(_ key: Key) throws(CodingFailure) -> Value {
        guard let value = found(key) else {
            throw place.failure(.missingKey, "missing the key \"\(key.component)\"")
        }
        return value
    }

    private func decoder(_ value: Value, _ key: any CodingKey) -> TreeDecoder {
        TreeDecoder(value: value, place: Place(node: node, key: key))
    }
}

struct TreeUnkeyedDecodingContainer: UnkeyedDecodingContainer {
    let elements: [Value]
    let node: PathNode
    let place: Place
    private(set) var currentIndex = 0

    init(elements: [Value], node: PathNode, place: Place) {
        self.elements = elements
        self.node = node
        self.place = place
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    /// Passes over a null only.
    mutating func decodeNil() throws -> Bool {
        guard try current().isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let result = try decodeTree(type, from: current(), at: currentPlace)
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
        let container = try decoder().container(keyedBy: type)
        currentIndex += 1
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try decoder().unkeyedContainer()
        currentIndex += 1
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try decoder()
        currentIndex += 1
        return decoder
    }

    private var currentPlace: Place { Place(node: node, key: DataKey.index(currentIndex)) }

    private func current() throws(CodingFailure) -> Value {
        guard !isAtEnd else {
            throw currentPlace.failure(.missingValue, "expected another element, but the array has \(elements.count)")
        }
        return elements[currentIndex]
    }

    private func decoder() throws -> TreeDecoder {
        TreeDecoder(value: try current(), place: currentPlace)
    }
}

struct TreeSingleValueDecodingContainer: SingleValueDecodingContainer {
    let value: Value
    let place: Place

    var codingPath: [any CodingKey] { place.codingPath }

    func decodeNil() -> Bool { value.isNull }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decodeTree(type, from: value, at: place)
    }
}
