/// Answers every request with a plain sample and writes it down.
final class ProbingDecoder: Decoder {
    let probe: SchemaProbe
    private(set) var shape = SchemaShape.opaque
    /// The keys that may be absent: the type asked whether they are null before it asked for them.
    private var optionalKeys: Set<String> = []

    init(probe: SchemaProbe) {
        self.probe = probe
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        if case .fields = shape {} else { shape = .fields([:]) }
        return KeyedDecodingContainer(ProbingKeyedContainer(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        shape = .elements([])
        return ProbingUnkeyedContainer(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        ProbingSingleValueContainer(decoder: self)
    }

    /// Answers a request with a sample and has its look recorded.
    ///
    /// - Throws: `NoSample`.
    func answer<T: Decodable>(_ type: T.Type, _ record: (SchemaShape) -> Void) throws -> T {
        let (instance, shape) = probe.field(type)
        record(shape)
        guard let instance else { throw SchemaProbe.NoSample() }
        return instance
    }

    func record(_ key: String, _ field: SchemaShape) {
        guard case .fields(var fields) = shape else { return }
        fields[key] = optionalKeys.contains(key) ? .optional(field) : field
        shape = .fields(fields)
    }

    func mayBeAbsent(_ key: String) {
        optionalKeys.insert(key)
    }

    func record(_ element: SchemaShape) {
        guard case .elements(let elements) = shape else { return }
        shape = .elements(elements + [element])
    }

    func become(_ whole: SchemaShape) {
        shape = whole
    }
}

private struct ProbingKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ProbingDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool {
        decoder.mayBeAbsent(key.component)
        return false
    }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.answer(type) { decoder.record(key.component, $0) }
    }

    /// Filled in where a sample can be made.
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
        let (instance, shape) = decoder.probe.field(type)
        decoder.mayBeAbsent(key.component)
        decoder.record(key.component, shape)
        return instance
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaProbe.NoSample()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw SchemaProbe.NoSample() }
    func superDecoder() throws -> any Decoder { throw SchemaProbe.NoSample() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw SchemaProbe.NoSample() }
}

private struct ProbingUnkeyedContainer: UnkeyedDecodingContainer {
    let decoder: ProbingDecoder
    private(set) var currentIndex = 0

    init(decoder: ProbingDecoder) {
        self.decoder = decoder
    }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { nil }
    /// A list that is read to its end is empty; one that is read without asking gets its elements.
    var isAtEnd: Bool { true }

    func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        currentIndex += 1
        return try decoder.answer(type) { decoder.record($0) }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaProbe.NoSample()
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw SchemaProbe.NoSample() }
    func superDecoder() throws -> any Decoder { throw SchemaProbe.NoSample() }
}

private struct ProbingSingleValueContainer: SingleValueDecodingContainer {
    let decoder: ProbingDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try decoder.answer(type) { decoder.become($0) }
    }
}
