/// The `Encoder` that a type's own `encode(to:)` gets: writes as the type hands out its parts. Once it is asked for a
/// container, it is the node of the path where the parts stand.
///
/// Containers within it write into the same output while they come one inside the other. As soon as something else is
/// written, the part of such a container moves to an output of its own, where it can still be added to; it comes back to
/// its place at the end.
final class ItemEncoder: PathNode, Encoder {
    fileprivate enum Kind { case nothing, single, array, map }

    /// A container within this one that has an output of its own.
    private struct Detached {
        /// The offset where its bytes belong.
        let offset: Int
        let encoder: ItemEncoder
    }

    private(set) var output: EncodingOutput
    /// How many elements an array has.
    private(set) var count = 0
    private var kind = Kind.nothing
    /// Where this encoder's part of the output begins.
    private var start: EncodingOutput.Mark
    private var level: Int
    /// The container within this one that was opened last, as long as it writes into the same output.
    private var innermost: ItemEncoder?
    private var detached: [Detached] = []
    private var refused: CodingFailure?

    init(output: EncodingOutput, key: (any CodingKey)?, in node: PathNode) {
        self.output = output
        start = output.mark
        output.openLevel += 1
        level = output.openLevel
        super.init(under: key, in: node)
    }

    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Has a type encode itself, and completes what it wrote.
    func encode(_ value: some Encodable) throws {
        defer { output.openLevel = level - 1 }
        do { try value.encode(to: self) } catch { throw CodingFailure(error, path: path) }
        try finish()
    }

    // MARK: Opening

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        become(.map)
        return KeyedEncodingContainer(ItemKeyedEncodingContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        become(.array)
        return ItemUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ItemSingleValueEncodingContainer(encoder: self)
    }

    /// A type may ask for its container again, not for one of another kind.
    private func become(_ wanted: Kind) {
        switch kind {
        case wanted: break
        case .nothing:
            kind = wanted
            do throws(CodingFailure) { try checkDepth() } catch { refused = error }
            output.writer.openContainer()
        default: refused = refusal("the type asked for two containers of different kinds")
        }
    }

    /// Opens a container within this one, under a key or as the next element.
    func nested(_ key: any CodingKey) -> ItemEncoder {
        do throws(CodingFailure) {
            if kind == .map { try begin(key.component) } else { try beginElement() }
        } catch {
            refused = error
        }
        let child = ItemEncoder(output: output, key: key, in: self)
        innermost = child
        return child
    }

    // MARK: Writing

    /// Begins an entry of the map; its value comes next.
    func begin(_ name: String) throws(CodingFailure) {
        try prepare().beginEntry(name)
    }

    /// Writes an entry of the map.
    func put(_ value: some Primitive, _ name: String) throws(CodingFailure) {
        let output = try prepare()
        output.beginEntry(name)
        value.write(to: &output.writer)
    }

    /// Begins an element of the array.
    func beginElement() throws(CodingFailure) {
        _ = try prepare()
        count += 1
    }

    /// Begins the only value.
    func beginSingle() throws(CodingFailure) {
        _ = try prepare()
        guard kind == .nothing else {
            throw refusal("the type encoded more than one value into a single-value container")
        }
        kind = .single
    }

    /// Where everything stands, to come back to if a part fails: a type may go on without it.
    struct State {
        fileprivate let mark: EncodingOutput.Mark
        fileprivate let count: Int
        fileprivate let kind: Kind
    }

    var state: State { State(mark: output.mark, count: count, kind: kind) }

    func takeBack(to state: State) {
        output.takeBack(to: state.mark)
        (count, kind) = (state.count, state.kind)
    }

    /// The output to write the next part to.
    private func prepare() throws(CodingFailure) -> EncodingOutput {
        if let innermost { detach(innermost) }
        if let refused { throw refused }
        let output = output
        guard output.openLevel == level else {
            throw refusal("the type wrote into a container at a time when another one was open")
        }
        return output
    }

    private func refusal(_ message: String) -> CodingFailure { failure(.unencodable, message) }

    // MARK: Closing

    /// Gives a container an output of its own, so that it stays open while others are written.
    private func detach(_ child: ItemEncoder) {
        if let innermost = child.innermost { child.detach(innermost) }
        let offset = child.start.bytes
        child.output = output.split(at: child.start)
        child.start = EncodingOutput.Mark(bytes: 0, entries: 0)
        child.detached = child.detached.map { Detached(offset: $0.offset - offset, encoder: $0.encoder) }
        child.level = 1
        child.output.openLevel = 1
        output.openLevel = level
        detached.append(Detached(offset: offset, encoder: child))
        innermost = nil
    }

    private func finish() throws(CodingFailure) {
        if let innermost {
            try innermost.finish()
            output.openLevel = level
        }
        if let refused { throw refused }
        if !detached.isEmpty { try placeDetached() }
        switch kind {
        case .single: break
        case .array: output.writer.closeContainer(.array, at: start.bytes, count: count)
        case .map:
            let count = output.writer.sortEntries(output.entries[start.entries...])
            output.entries.removeSubrange(start.entries...)
            output.writer.closeContainer(.map, at: start.bytes, count: count)
        case .nothing: throw refusal("the type encoded nothing; encode a value, or an empty container")
        }
    }

    /// Puts the bytes of detached containers where they belong.
    private func placeDetached() throws(CodingFailure) {
        var moved = 0
        var entry = start.entries
        for detached in detached {
            try detached.encoder.finish()
            while entry < output.entries.count, output.entries[entry] < detached.offset {
                output.entries[entry] += moved
                entry += 1
            }
            let bytes = detached.encoder.output.writer.bytes
            output.writer.insert(bytes, at: detached.offset + moved)
            moved += bytes.count
        }
        while entry < output.entries.count {
            output.entries[entry] += moved
            entry += 1
        }
    }
}
