struct ProbingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbingDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { decoder.chosenKeys(Key.self) }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool {
        decoder.mayBeAbsent(key)
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.field(type, key).orNoSample
    }

    /// Filled in where a sample can be made.
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
        decoder.mayBeAbsent(key)
        return decoder.field(type, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        decoder.nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        decoder.nested(key).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { decoder.nested(DataKey.superKey) }
    func superDecoder(forKey key: Key) -> any Decoder { decoder.nested(key) }
}

struct ProbingUnkeyedContainer: UnkeyedDecodingContainer {
    let decoder: ProbingDecoder
    private(set) var currentIndex = 0

    init(decoder: ProbingDecoder) {
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    /// A list that is read to its end ends after what is read first; one that is read without asking gets its elements.
    var isAtEnd: Bool { currentIndex > 0 || !decoder.fillsLists }

    func decodeNil() -> Bool { false }

    /// A list may be read until it fails.
    private static let elementsMax = 256

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        guard currentIndex < Self.elementsMax else { throw SchemaProbe.NoSample() }
        currentIndex += 1
        return try decoder.element(type)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { nested().unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { nested() }

    private mutating func nested() -> ProbingDecoder {
        currentIndex += 1
        return decoder.nestedElement()
    }
}

struct ProbingSingleValueContainer: SingleValueDecodingContainer {
    let decoder: ProbingDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try decoder.whole(type) }
}
