/// An `Encoder` that encodes nothing: it keeps the fields that a type's `encode(to:)` hands out, typed, in their order.
///
/// Enums with payloads write theirs in a nested keyed container: collected likewise. Any other container makes the
/// collection not plain, and the type is then encoded whole.
final class FieldCollector: Encoder {
    enum Content {
        case null
        case value(any Encodable)
        case fields(FieldCollector)
    }

    private struct Fields {
        var names: [String] = []
        var contents: [Content] = []
        var nested: [FieldCollector] = []
        /// A bit for each name.
        var seen: UInt64 = 0
    }

    let place: Place
    private(set) var node: PathNode
    /// Whether a name came twice, which leaves the later one in the encoding.
    private(set) var hasDoubles = false
    /// Nobody else reaches the fields; behind a pointer they are spared the checks for that.
    private let fields: UnsafeMutablePointer<Fields>
    private var hasContainer = false
    private var isUnusual = false
    private var failure: CodingFailure?

    private init(place: Place) {
        self.place = place
        node = place.node
        fields = .allocate(capacity: 1)
        fields.initialize(to: Fields())
    }

    deinit {
        fields.deinitialize(count: 1)
        fields.deallocate()
    }

    /// The names of the fields, beside their contents: most are only compared.
    var names: [String] { _read { yield fields.pointee.names } }
    var contents: [Content] { _read { yield fields.pointee.contents } }

    /// Collects the fields of a value.
    convenience init(of value: some Encodable, at place: Place) throws {
        self.init(place: place)
        do {
            try value.encode(to: self)
        } catch {
            throw CodingFailure(error, at: place)
        }
        if let failure { throw failure }
    }

    /// Whether one keyed container is all that the type asked for.
    var isPlain: Bool {
        hasContainer && !isUnusual && fields.pointee.nested.allSatisfy(\.isPlain)
    }

    var codingPath: [any CodingKey] { place.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if !hasContainer {
            do throws(CodingFailure) { node = try place.open() } catch { failure = error }
            fields.pointee.names.reserveCapacity(16)
            fields.pointee.contents.reserveCapacity(16)
        }
        hasContainer = true
        return KeyedEncodingContainer(FieldContainer(collector: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { unusual(at: place).unkeyedContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { unusual(at: place).singleValueContainer() }

    /// An encoder whose result nobody asks for, for what cannot be collected.
    func unusual(at place: Place) -> ItemEncoder {
        isUnusual = true
        return ItemEncoder(output: EncodingOutput(reserving: 0), key: place.key, in: place.node)
    }

    func collect(_ name: String, _ content: Content) {
        // Only names that share a bit are looked for.
        let bit: UInt64 = 1 << UInt64((name.utf8.count &* 31 &+ Int(name.utf8.first ?? 0) &* 7) & 63)
        if fields.pointee.seen & bit != 0, index(of: name) != nil { hasDoubles = true }
        fields.pointee.seen |= bit
        fields.pointee.names.append(name)
        fields.pointee.contents.append(content)
    }

    /// Where the field of a name is. Two values of one type mostly have their fields at the same positions.
    func index(of name: String, near position: Int = 0) -> Int? {
        if position < names.count, names[position] == name { return position }
        return names.firstIndex(of: name)
    }

    func nested(_ key: any CodingKey) -> FieldCollector {
        let nested = FieldCollector(place: Place(node: node, key: key))
        collect(key.component, .fields(nested))
        fields.pointee.nested.append(nested)
        return nested
    }
}

/// The keyed container of a `FieldCollector`.
private struct FieldContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let collector: FieldCollector

    var codingPath: [any CodingKey] { collector.codingPath }

    mutating func encodeNil(forKey key: Key) throws {
        collector.collect(key.component, .null)
    }

    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
        collector.collect(key.component, .value(value))
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        collector.nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        unusual(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { unusual(DataKey.superKey) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { unusual(key) }

    private func unusual(_ key: any CodingKey) -> ItemEncoder {
        collector.unusual(at: Place(node: collector.node, key: key))
    }
}
