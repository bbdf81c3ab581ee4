/// An `Encoder` that records the fields that `encode(to:)` writes as typed values, in their order. It encodes only
/// fields in unkeyed or super containers.
///
/// It records the payload of an enum, a nested keyed container, in the same way. A value that is neither one keyed
/// container nor the content of a newtype is encoded as a whole.
final class FieldCollector: Encoder {
    enum Content {
        case null
        case value(any Encodable)
        case fields(FieldCollector)
        /// A field that its type wrote into another container than a keyed one.
        case tree(Value)
    }

    let place: CodingPath
    private(set) var node: CodingPathNode
    /// Whether a name came twice. The encoding keeps the later field.
    private(set) var hasDoubles = false
    // A collector is used by one thread and is not re-entered, so exclusivity checks are disabled for speed.
    @exclusivity(unchecked) private var nameList = NameList()
    /// The contents of the fields, in the order of their names.
    @exclusivity(unchecked) private(set) var contents: [Content] = []
    @exclusivity(unchecked) private var nestedCollectors: [FieldCollector] = []
    /// The encoders of containers of another kind, with the index of the field; `nil` for the whole value.
    @exclusivity(unchecked) private var written: [(index: Int?, encoder: ItemEncoder)] = []
    private var hasContainer = false
    private var hasContainers = false
    private var isUnusual = false
    private var hasContent = false
    private var failure: CodingFailure?

    private init(place: CodingPath) {
        self.place = place
        node = place.node
    }

    var names: [String] { _read { yield nameList.names } }

    /// Collects the fields of a value.
    convenience init(of value: some Encodable, at place: CodingPath) throws {
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
        hasContainer && !isUnusual && !hasContent && nestedCollectors.allSatisfy(\.isPlain)
    }

    /// Whether one value is all that the type wrote.
    var isNewtype: Bool {
        guard hasContent, !hasContainer, !isUnusual, case .value = contents[0] else { return false }
        return true
    }

    /// The content of a newtype.
    var newtypeContent: (any Encodable)? {
        guard isNewtype, case .value(let content) = contents[0] else { return nil }
        return content
    }

    var codingPath: [any CodingKey] { place.keys }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if !hasContainer {
            do throws(CodingFailure) { node = try place.open() } catch { failure = error }
            nameList.reserveCapacity(16)
            contents.reserveCapacity(16)
        }
        hasContainer = true
        return KeyedEncodingContainer(FieldContainer(collector: self))
    }

    /// Returns an encoder only because one is required; its output is discarded and the value is encoded as a whole
    /// later.
    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        isUnusual = true
        let encoder = ItemEncoder(output: EncodingOutput(reserving: 0), key: place.key, in: place.node)
        written.append((nil, encoder))
        return encoder.unkeyedContainer()
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    /// An encoder for a field that is written into another container than a keyed one.
    fileprivate func encoder(for key: any CodingKey) -> ItemEncoder {
        hasContainers = true
        let output = EncodingOutput(reserving: 0, refusesClasses: true)
        let encoder = ItemEncoder(output: output, key: key, in: node)
        written.append((names.count, encoder))
        collect(key.component, .null)
        return encoder
    }

    /// Collects the fields in other containers, which are complete when the whole value is.
    private func finish() throws(CodingFailure) {
        for case (let index?, let encoder) in written {
            contents[index] = .tree(try encoder.tree())
        }
        for nested in nestedCollectors { try nested.finish() }
        if let failure { throw failure }
        if hasDoubles, hasContainers { throw node.failure(.unencodable, ItemEncoder.containerTwice) }
    }

    /// Closes the encoders, which may be part of reference cycles.
    private func close() {
        for (_, encoder) in written { encoder.close() }
        written = []
        for nested in nestedCollectors { nested.close() }
    }

    fileprivate func collect(_ name: String, _ content: Content) {
        if !nameList.append(name) { hasDoubles = true }
        contents.append(content)
    }

    /// The index of the field with a name.
    func index(of name: String, near position: Int = 0) -> Int? { nameList.index(of: name, near: position) }

    fileprivate func nested(_ key: any CodingKey) -> FieldCollector {
        hasContainers = true
        let nested = FieldCollector(place: CodingPath(node: node, key: key))
        collect(key.component, .fields(nested))
        nestedCollectors.append(nested)
        return nested
    }
}

extension FieldCollector {
    /// Writes the change between the fields of two values of one type.
    ///
    /// - Returns: Whether there is one; if not, nothing is written.
    func writeChange(to new: FieldCollector, path: DigestPath, by writer: PatchWriter) throws -> Bool {
        let changes = MapChanges(path: path, by: writer)
        var matched = 0
        for index in new.names.indices {
            if let old = self.index(of: new.names[index], near: index) {
                matched += 1
                try writeChange(of: old, to: index, in: new, as: changes)
            } else {
                try changes.insert {
                    try new.writeKey(index, writer)
                } _: {
                    try new.write(index, writer)
                }
            }
        }
        if matched < names.count {
            for index in names.indices where new.index(of: names[index]) == nil {
                try changes.remove {
                    try writeKey(index, writer)
                } _: {
                    try write(index, writer)
                }
            }
        }
        // An enum that changed its case shares no key with the old value, and must never have both keys.
        let sharesNothing = matched == 0 && !names.isEmpty
        if !changes.isEmpty, sharesNothing || hasDoubles || new.hasDoubles {
            changes.rollBack()
            return try writer.writeDifference(from: try tree(), to: try new.tree(), path: path)
        }
        return try changes.finish(from: names.count, to: new.names.count, at: place)
    }

    private func writeChange(of old: Int, to new: Int, in other: FieldCollector, as changes: MapChanges) throws {
        let writer = changes.writer
        func entry(_ change: (DigestPath) throws -> Bool) throws -> Bool {
            try changes.change({ try writeKey(old, writer) }, change)
        }
        switch (contents[old], other.contents[new]) {
        case (.null, .null): return
        case (.value(let before), .value(let after)):
            let place = CodingPath(node: node, key: DataKey.name(names[old]))
            if try ChangedPart.writeCompared(before, after, at: place, by: writer, within: entry) != nil { return }
        case (.fields(let before), .fields(let after)):
            _ = try entry { try before.writeChange(to: after, path: $0, by: writer) }
            return
        case (.tree(let before), .tree(let after)):
            _ = try entry { writer.replaceWhole(before, with: after, path: $0) }
            return
        default: break
        }
        let (before, after) = (try tree(of: old), try other.tree(of: new))
        _ = try entry { try writer.writeDifference(from: before, to: after, path: $0) }
    }

    private func writeKey(_ index: Int, _ writer: PatchWriter) throws(CodingFailure) {
        do throws(CodingFailure) { try writer.output.contents.pointee.beginEntry(names[index]) } catch {
            throw node.failure(error.code, error.message)
        }
    }

    private func key(_ index: Int) throws(CodingFailure) -> Value {
        if names[index].hasTooManyMarks { throw node.failure(.unencodable, CodingFailure.tooManyMarks) }
        return .text(names[index].canonical)
    }

    /// Writes the content of a field as an item.
    private func write(_ index: Int, _ writer: PatchWriter) throws {
        if case .value(let value) = contents[index] {
            try encodeItem(value, into: writer.output, under: DataKey.name(names[index]), in: node)
        } else {
            writer.output.writer.value(try tree(of: index))
        }
    }

    private func tree(of index: Int) throws -> Value {
        try contents[index].tree(at: CodingPath(node: node, key: DataKey.name(names[index])))
    }

    func tree() throws -> Value {
        if let newtypeContent { return try encodeTree(newtypeContent, at: place) }
        return .map(ValueMap(try names.indices.map { (try key($0), try tree(of: $0)) }))
    }
}

extension FieldCollector.Content {
    func tree(at place: CodingPath) throws -> Value {
        switch self {
        case .null: .null
        case .value(let value): try encodeTree(value, at: place)
        case .fields(let nested): try nested.tree()
        case .tree(let tree): tree
        }
    }
}

/// The content of a newtype, a type that encodes itself as one value of another type.
extension FieldCollector: SingleValueEncodingContainer {
    func encodeNil() { collectContent(.null) }
    func encode<T: Encodable>(_ value: T) { collectContent(.value(value)) }

    private func collectContent(_ content: Content) {
        if hasContent { isUnusual = true }
        hasContent = true
        contents.append(content)
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
        collector.encoder(for: key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { collector.encoder(for: DataKey.superKey) }
    mutating func superEncoder(forKey key: Key) -> any Encoder { collector.encoder(for: key) }
}

/// The names of fields in their order, and the index of each. Few names, as of a struct, are searched; many, as of a
/// type that encodes a dictionary as its own fields, are looked up.
struct NameList {
    private static let maxFew = 16

    private(set) var names: [String] = []
    /// A one-hash Bloom filter: a clear bit proves that a name is new.
    private var bits: UInt64 = 0
    /// The index of each name, once they are many.
    private var positions: [String: Int] = [:]

    mutating func reserveCapacity(_ count: Int) { names.reserveCapacity(count) }

    /// - Returns: Whether the name is new.
    mutating func append(_ name: String) -> Bool {
        defer { names.append(name) }
        guard names.count < Self.maxFew else { return appendToMany(name) }
        let bit: UInt64 = 1 << UInt64((name.utf8.count &* 31 &+ Int(name.utf8.first ?? 0) &* 7) & 63)
        defer { bits |= bit }
        return bits & bit == 0 || index(of: name) == nil
    }

    private mutating func appendToMany(_ name: String) -> Bool {
        if positions.isEmpty { positions = Dictionary(zip(names, names.indices)) { first, _ in first } }
        guard positions[name] == nil else { return false }
        positions[name] = names.count
        return true
    }

    /// The first index of a name. Two values of one type mostly have their fields at the same positions.
    func index(of name: String, near position: Int = 0) -> Int? {
        if position < names.count, names[position] == name { return position }
        return positions.isEmpty ? names.firstIndex(of: name) : positions[name]
    }
}
