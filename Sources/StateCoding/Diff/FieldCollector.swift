/// An `Encoder` that encodes nothing: it keeps the fields that a type's `encode(to:)` hands out, typed, in their order.
///
/// Enums with payloads write theirs in a nested keyed container: collected likewise. A field in any other container is
/// encoded; a value that is neither one keyed container nor the content of a newtype is encoded whole.
final class FieldCollector: Encoder {
    enum Content {
        case null
        case value(any Encodable)
        case fields(FieldCollector)
        /// What was written into another container than a keyed one.
        case tree(Value)
    }

    private struct Fields {
        var names = NameList()
        var contents: [Content] = []
        var nested: [FieldCollector] = []
        /// What is written into containers of another kind, and which field that is; `nil` for all of the value.
        var written: [(index: Int?, encoder: ItemEncoder)] = []
    }

    let place: Place
    private(set) var node: PathNode
    /// Whether a name came twice, which leaves the later one in the encoding.
    private(set) var hasDoubles = false
    /// Nobody else reaches the fields; behind a pointer they are spared the checks for that.
    private let fields: UnsafeMutablePointer<Fields>
    private var hasContainer = false
    private var hasContainers = false
    private var isUnusual = false
    private var hasContent = false
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
    var names: [String] { _read { yield fields.pointee.names.names } }
    var contents: [Content] { _read { yield fields.pointee.contents } }

    /// Collects the fields of a value.
    convenience init(of value: some Encodable, at place: Place) throws {
        self.init(place: place)
        defer { close() }
        do {
            try value.encode(to: self)
            try finish()
        } catch {
            throw CodingFailure(error, at: place)
        }
    }

    /// Whether one keyed container is all that the type asked for.
    var isPlain: Bool {
        hasContainer && !isUnusual && !hasContent && fields.pointee.nested.allSatisfy(\.isPlain)
    }

    /// What a newtype is, if one value is all that the type wrote.
    var newtypeContent: (any Encodable)? {
        guard hasContent, !hasContainer, !isUnusual, case .value(let content) = contents[0] else { return nil }
        return content
    }

    /// Takes what was written as the only value.
    func collectContent(_ content: (any Encodable)?) {
        if hasContent { isUnusual = true }
        hasContent = true
        fields.pointee.contents.append(content.map { .value($0) } ?? .null)
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

    /// What is written there cannot be collected; nobody asks for it.
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isUnusual = true
        let encoder = ItemEncoder(output: EncodingOutput(reserving: 0), key: place.key, in: place.node)
        fields.pointee.written.append((nil, encoder))
        return encoder.unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { NewtypeContainer(collector: self) }

    /// An encoder for a field that is written into another container than a keyed one.
    func written(_ key: any CodingKey) -> ItemEncoder {
        hasContainers = true
        let output = EncodingOutput(reserving: 0, refusesClasses: true)
        let encoder = ItemEncoder(output: output, key: key, in: node)
        fields.pointee.written.append((names.count, encoder))
        collect(key.component, .null)
        return encoder
    }

    /// Takes what was written elsewhere: it is complete when the whole value is.
    private func finish() throws(CodingFailure) {
        for case (let index?, let encoder) in fields.pointee.written {
            fields.pointee.contents[index] = .tree(try encoder.tree())
        }
        for nested in fields.pointee.nested { try nested.finish() }
        if let failure { throw failure }
        if hasDoubles, hasContainers { throw node.failure(.unencodable, ItemEncoder.containerTwice) }
    }

    /// Lets go of the encoders, which may know containers that know them.
    private func close() {
        for (_, encoder) in fields.pointee.written { encoder.close() }
        fields.pointee.written = []
        for nested in fields.pointee.nested { nested.close() }
    }

    func collect(_ name: String, _ content: Content) {
        if !fields.pointee.names.append(name) { hasDoubles = true }
        fields.pointee.contents.append(content)
    }

    /// Where the field of a name is.
    func index(of name: String, near position: Int = 0) -> Int? { fields.pointee.names.index(of: name, near: position) }

    func nested(_ key: any CodingKey) -> FieldCollector {
        hasContainers = true
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
        collector.written(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { collector.written(DataKey.superKey) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { collector.written(key) }
}
