extension StateEncoder {
    /// Checks that the encoded tree holds no class instances.
    ///
    /// A class instance can change without its old copy differing, so its changes would never be published. Parts that
    /// are not there yet (rows, `nil` fields) are checked by the types that `init(from:)` asks for when it reads
    /// default values. The ``Differ`` refuses any other instance when it appears. Costs an encoding: call it once, at
    /// start.
    ///
    /// - Throws: `unencodable`, with the path of the first class; without the elements on it, where there are none.
    public func checkValueSemantics(of value: some Encodable) throws(CodingFailure) {
        _ = try encode(value, refusesClasses: true)
        if let decodable = type(of: value) as? any Decodable.Type {
            try Defaults.checkValueSemantics(of: decodable)
        }
    }
}

extension Value {
    /// An example of a type: the encoding of the instance that its own `init(from:)` makes of default values, which are
    /// 0, "", false, empty collections and the first of the cases that a type lists. Optional fields are filled in if
    /// their type has a default.
    ///
    /// - Parameter encode: encodes the instance.
    /// - Returns: `nil` if the type refuses defaults, such as a price that must be above 0, if it is an enum with
    ///   payloads whose keys are not `CaseIterable`, or if the first case of an enum contains the enum.
    package init?<T: Decodable>(
        exampleOf type: T.Type,
        _ encode: (any Encodable) throws -> Value = { try StateEncoder().value(of: $0) }
    ) {
        guard let instance = try? Defaults().instance(of: type, at: []) as? any Encodable,
            let tree = try? encode(instance)
        else { return nil }
        self = tree
    }
}

/// Makes instances of default values, and finds the classes that types ask for on the way.
final class Defaults {
    /// A type refuses defaults, or needs an instance of itself.
    struct NoDefault: Error {}

    /// The first class that a type asked for, and where. Elements are left out of the path.
    private var firstClass: (type: Any.Type, path: [String])?
    /// The types whose `init(from:)` is running.
    private var running: Set<ObjectIdentifier> = []
    /// Instances made so far: many fields may have one type.
    private var made: [ObjectIdentifier: Any] = [:]

    /// Checks that a type and all types that its `init(from:)` asks for, when it reads defaults, are values.
    ///
    /// Not seen are the payloads of an enum, but for those of the first case of keys that are `CaseIterable`, and the
    /// fields after one without a default.
    ///
    /// - Throws: `unencodable`.
    static func checkValueSemantics(of type: any Decodable.Type) throws(CodingFailure) {
        let defaults = Defaults()
        defaults.look(at: type, [])
        guard let found = defaults.firstClass else { return }
        throw CodingFailure.classInstance(found.type, path: found.path)
    }

    private func look(at type: any Decodable.Type, _ path: [String]) {
        _ = try? instance(of: type, at: path)
    }

    fileprivate func instance<T: Decodable>(of type: T.Type, at path: [String]) throws -> T {
        if firstClass == nil, type is AnyObject.Type { firstClass = (type, path) }
        let identity = ObjectIdentifier(type)
        // `made[identity] as? T` in one step could not distinguish a missing entry from a stored nil.
        if let made = made[identity], let instance = made as? T { return instance }
        guard running.insert(identity).inserted else { throw NoDefault() }
        defer { running.remove(identity) }
        let instance = try make(type, at: path)
        made.updateValue(instance, forKey: identity)
        return instance
    }

    private func make<T: Decodable>(_ type: T.Type, at path: [String]) throws -> T {
        if let builtIn = type as? any BuiltInDecodable.Type {
            for case let part as any Decodable.Type in (type as? any BuiltInEncodable.Type)?.partTypes ?? [] {
                look(at: part, path)
            }
            if let sample = builtIn.sample as? T { return sample }
        }
        func firstCase<C: CaseIterable>(of type: C.Type) -> C? { type.allCases.first }
        if let cases = type as? any CaseIterable.Type, let first = firstCase(of: cases) as? T { return first }
        return try T(from: DefaultDecoder(defaults: self, path: path))
    }
}

/// Answers each request with a default value.
private struct DefaultDecoder: Decoder, SingleValueDecodingContainer {
    let defaults: Defaults
    let path: [String]

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(DefaultFields(decoder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { DefaultElements(decoder: self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type) throws -> T { try defaults.instance(of: type, at: path) }

    func nested(_ component: String) -> DefaultDecoder { DefaultDecoder(defaults: defaults, path: path + [component]) }
}

/// Has each field that is asked for. An enum with payloads asks for the key of its case, and finds the first one if its
/// keys are `CaseIterable`.
private struct DefaultFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: DefaultDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] {
        func first<C: CaseIterable>(of type: C.Type) -> Key? { type.allCases.first as? Key }
        return (Key.self as? any CaseIterable.Type).flatMap { first(of: $0) }.map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }
    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T { try nested(key).decode(type) }
    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? { try? nested(key).decode(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedDecodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { nested(key).unkeyedContainer() }
    func superDecoder() -> any Decoder { nested(DataKey.superKey) }
    func superDecoder(forKey key: Key) -> any Decoder { nested(key) }

    private func nested(_ key: any CodingKey) -> DefaultDecoder { decoder.nested(key.component) }
}

/// Is empty to a type that asks, and has an element for one that does not.
private struct DefaultElements: UnkeyedDecodingContainer {
    let decoder: DefaultDecoder
    private(set) var currentIndex = 0
    /// A type may read elements until it fails.
    private static let maxCount = 256

    init(decoder: DefaultDecoder) { self.decoder = decoder }

    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }

    func decodeNil() -> Bool { false }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }

    private mutating func next() throws -> DefaultDecoder {
        guard currentIndex < Self.maxCount else { throw Defaults.NoDefault() }
        defer { currentIndex += 1 }
        return decoder.nested("\(currentIndex)")
    }
}
