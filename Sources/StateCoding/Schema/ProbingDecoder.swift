/// Answers every request with a plain sample and writes it down.
final class ProbingDecoder: Decoder {
    /// What was asked for: a value, or a container with parts of its own.
    private enum Part {
        case value(SchemaShape)
        case nested(ProbingDecoder)

        var shape: SchemaShape {
            switch self {
            case .value(let shape): shape
            case .nested(let decoder): decoder.shape
            }
        }
    }

    private enum Kind { case nothing, keyed, unkeyed, single }

    private let probe: SchemaProbe
    private let path: [String]
    /// Whether a list has an element, so that its type is seen.
    let fillsLists: Bool
    /// Which of the possible keys is said to be there to a type that asks.
    private let choice: Int
    /// How many keys could be there, if the type asked.
    private(set) var choiceCount = 0
    private var kind = Kind.nothing
    private var keyed: [String: Part] = [:]
    private var listed: [Part] = []
    /// The keys that may be absent: the type asked whether they are null before it asked for them.
    private var optionalKeys: Set<String> = []

    init(probe: SchemaProbe, path: [String], choice: Int = 0, fillsLists: Bool = true) {
        self.probe = probe
        self.path = path
        self.choice = choice
        self.fillsLists = fillsLists
    }

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        kind = .keyed
        return KeyedDecodingContainer(ProbingKeyedContainer(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer {
        kind = .unkeyed
        return ProbingUnkeyedContainer(decoder: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        ProbingSingleValueContainer(decoder: self)
    }

    // MARK: Answering

    func field<T: Decodable>(_ type: T.Type, _ key: any CodingKey) -> T? {
        let visit = probe.visit(type, at: path + [key.component])
        keyed[key.component] = .value(visit.shape)
        return visit.instance
    }

    func element<T: Decodable>(_ type: T.Type) throws -> T {
        let visit = probe.visit(type, at: path + [String(listed.count)])
        listed.append(.value(visit.shape))
        return try visit.instance.orNoSample
    }

    func whole<T: Decodable>(_ type: T.Type) throws -> T {
        let visit = probe.visit(type, at: path)
        (kind, listed) = (.single, [.value(visit.shape)])
        return try visit.instance.orNoSample
    }

    func nested(_ key: any CodingKey) -> ProbingDecoder {
        let nested = ProbingDecoder(probe: probe, path: path + [key.component], fillsLists: fillsLists)
        keyed[key.component] = .nested(nested)
        return nested
    }

    func nestedElement() -> ProbingDecoder {
        let nested = ProbingDecoder(probe: probe, path: path + [String(listed.count)], fillsLists: fillsLists)
        listed.append(.nested(nested))
        return nested
    }

    func mayBeAbsent(_ key: any CodingKey) { optionalKeys.insert(key.component) }

    /// The key that is there, for an enum with payloads: it reads one, and refuses more.
    func chosenKeys<Key>(_ type: Key.Type) -> [Key] {
        guard let cases = PlainCases(of: type) else { return [] }
        choiceCount = cases.count
        return choice < cases.count ? [cases[choice]] : []
    }

    // MARK: What was seen

    var fields: [String: SchemaShape] {
        var fields = keyed.mapValues(\.shape)
        for key in optionalKeys { fields[key] = fields[key].map { .optional($0) } }
        return fields
    }

    var shape: SchemaShape {
        switch kind {
        case .nothing: .opaque
        case .keyed: .fields(fields)
        case .unkeyed: .elements(listed.map(\.shape))
        case .single: listed[0].shape
        }
    }
}

extension Optional {
    /// - Throws: `NoSample` for nothing.
    var orNoSample: Wrapped {
        get throws {
            guard let self else { throw SchemaProbe.NoSample() }
            return self
        }
    }
}
