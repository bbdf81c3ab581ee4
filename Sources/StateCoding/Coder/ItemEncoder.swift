/// The `Encoder` that a type's own `encode(to:)` gets: writes as the type hands out its parts. Once it is asked for a
/// container, it is the node of the path where the parts stand.
///
/// Containers within it write into the same output while they come one inside the other. As soon as something else is
/// written, the part of such a container moves to an output of its own, where it can still be added to; it comes back to
/// its place at the end.
final class ItemEncoder: PathNode, Encoder {
    enum Kind { case nothing, single, array, map }

    /// What few types need.
    final class Aside {
        /// The containers within this one that have outputs of their own.
        var detached: [Detached] = []
        var refused: CodingFailure?

        func closeDetached(from first: Int) {
            for detached in detached[first...] { detached.encoder.close() }
            detached.removeSubrange(first...)
        }
    }

    struct Detached {
        /// The offset where its bytes belong.
        let offset: Int
        let encoder: ItemEncoder
    }

    /// Owns the contents; a spare encoder has none between two runs.
    @exclusivity(unchecked) private var owner: EncodingOutput?
    private(set) var contents: UnsafeMutablePointer<EncodingOutput.Contents>
    /// How many elements an array has.
    private(set) var count = 0
    private(set) var kind = Kind.nothing
    /// Where this encoder's part of the output begins.
    private(set) var start: EncodingOutput.Mark
    /// How many containers are open in the output when this one is the innermost; below all of them once it is closed.
    private var level: Int
    /// Whether containers within this one were asked for.
    private var hasNested = false
    /// The container within this one that was opened last, as long as it writes into the same output.
    private var innermost: ItemEncoder?
    private var aside: Aside?

    init(output: EncodingOutput, key: (any CodingKey)?, in node: PathNode) {
        owner = output
        contents = output.contents
        start = contents.pointee.mark
        contents.pointee.openLevel += 1
        level = contents.pointee.openLevel
        super.init(under: key, in: node)
    }

    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var output: EncodingOutput {
        guard let owner else { preconditionFailure("a spare encoder has no output") }
        return owner
    }

    /// Has a type encode itself, and completes what it wrote.
    static func encode<T: Encodable>(
        _ value: T,
        into output: EncodingOutput,
        under key: (any CodingKey)?,
        in node: PathNode
    ) throws {
        var encoder = make(output, key, node)
        let level = encoder.level
        do {
            try value.encode(to: encoder)
            try encoder.finish()
        } catch {
            encoder.close()
            output.contents.pointee.openLevel = level - 1
            throw CodingFailure(error, path: encoder.path)
        }
        encoder.close()
        output.contents.pointee.openLevel = level - 1
        if isKnownUniquelyReferenced(&encoder) { output.contents.pointee.keep(encoder) }
    }

    @inline(__always)
    private static func make(_ output: EncodingOutput, _ key: (any CodingKey)?, _ node: PathNode) -> ItemEncoder {
        guard let spare = output.contents.pointee.spareEncoders.popLast() else {
            return ItemEncoder(output: output, key: key, in: node)
        }
        spare.move(under: key, in: node)
        spare.open(output)
        return spare
    }

    @inline(__always)
    func endRun() {
        owner = nil
    }

    private func open(_ output: EncodingOutput) {
        if owner == nil { owner = output }
        contents = output.contents
        start = contents.pointee.mark
        contents.pointee.openLevel += 1
        level = contents.pointee.openLevel
        (kind, count, hasNested) = (.nothing, 0, false)
    }

    // MARK: Opening

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if kind != .map { become(.map) }
        func make<C: ItemKeyedEncoding<Key>>(_ type: C.Type) -> KeyedEncodingContainer<Key> {
            KeyedEncodingContainer(C(encoder: self))
        }
        return make(KeyedContainerTypes.encoding(by: type))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if kind != .array { become(.array) }
        return ItemUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ItemSingleValueEncodingContainer(encoder: self)
    }

    /// A type may ask for its container again, not for one of another kind.
    private func become(_ wanted: Kind) {
        guard kind == .nothing else {
            return refuse(refusal("the type asked for two containers of different kinds"))
        }
        kind = wanted
        do throws(CodingFailure) { try checkDepth() } catch { refuse(error) }
        contents.pointee.writer.openContainer()
    }

    /// Opens a container within this one, under a key or as the next element.
    func nested(_ key: any CodingKey) -> ItemEncoder {
        do throws(CodingFailure) {
            if kind == .map { try begin(key.component) } else { try beginElement() }
        } catch {
            refuse(error)
        }
        hasNested = true
        let child = Self.make(output, key, self)
        innermost = child
        return child
    }

    // MARK: Writing

    /// Begins an entry of the map; its value comes next.
    func begin(_ name: String) throws(CodingFailure) {
        try prepare()
        try beginEntry(name)
    }

    /// Writes an entry of the map.
    func put<P: Primitive>(_ value: P, _ name: String) throws(CodingFailure) {
        guard value.isReadable else {
            throw Place(node: self, key: DataKey.name(name)).failure(.unencodable, CodingFailure.tooManyMarks)
        }
        try prepare()
        try beginEntry(name)
        value.write(to: &contents.pointee.writer)
    }

    @inline(__always)
    private func beginEntry(_ name: String) throws(CodingFailure) {
        do throws(CodingFailure) { try contents.pointee.beginEntry(name) } catch {
            throw failure(error.code, error.message)
        }
    }

    /// Begins an element of the array.
    func beginElement() throws(CodingFailure) {
        try prepare()
        count += 1
    }

    /// Begins the only value.
    func beginSingle() throws(CodingFailure) {
        try prepare()
        guard kind == .nothing else {
            throw refusal("the type encoded more than one value into a single-value container")
        }
        kind = .single
    }

    /// Where everything stands, to come back to if a part fails: a type may go on without it.
    struct State {
        fileprivate let contents: UnsafeMutablePointer<EncodingOutput.Contents>
        fileprivate let mark: EncodingOutput.Mark
        fileprivate let count: Int
        fileprivate let kind: Kind
        /// How many containers had outputs of their own.
        fileprivate let detached: Int
    }

    /// That, once containers within this one that are still open have moved out of the way.
    func settledState() throws(CodingFailure) -> State {
        try prepare()
        let detached = aside?.detached.count ?? 0
        return State(contents: contents, mark: contents.pointee.mark, count: count, kind: kind, detached: detached)
    }

    func takeBack(to state: State) {
        guard state.contents == contents else { return refuse(writtenElsewhere) }
        // What was opened since has nowhere to be.
        innermost.take()?.close()
        aside?.closeDetached(from: state.detached)
        contents.pointee.openLevel = level
        contents.pointee.takeBack(to: state.mark)
        (count, kind) = (state.count, state.kind)
    }

    /// Makes sure that the next part can be written.
    @inline(__always)
    private func prepare() throws(CodingFailure) {
        if innermost == nil, aside == nil, contents.pointee.openLevel == level { return }
        try settle()
    }

    @inline(never)
    private func settle() throws(CodingFailure) {
        if let innermost { detach(innermost) }
        if let refused = aside?.refused { throw refused }
        guard contents.pointee.openLevel == level else { throw writtenElsewhere }
    }

    private var writtenElsewhere: CodingFailure {
        refusal("the type wrote into a container at a time when another one was open, or when its value was complete")
    }

    static let containerTwice =
        "the type wrote twice under one key, and a container is among it; ask for a container once, and keep it"

    private func refusal(_ message: String) -> CodingFailure { failure(.unencodable, message) }

    private func refuse(_ failure: CodingFailure) { inAside { $0.refused = failure } }

    private func inAside(_ change: (Aside) -> Void) {
        let aside = aside ?? Aside()
        change(aside)
        self.aside = aside
    }

    // MARK: Closing

    /// Gives a container an output of its own, so that it stays open while others are written.
    private func detach(_ child: ItemEncoder) {
        if let innermost = child.innermost { child.detach(innermost) }
        let offset = child.start.bytes
        let part = output.split(at: child.start)
        child.owner = part
        child.contents = part.contents
        child.start = EncodingOutput.Mark(bytes: 0, entries: 0)
        child.aside?.detached = child.detached.map { Detached(offset: $0.offset - offset, encoder: $0.encoder) }
        child.level = 1
        child.contents.pointee.openLevel = 1
        contents.pointee.openLevel = level
        inAside { $0.detached.append(Detached(offset: offset, encoder: child)) }
        innermost = nil
    }

    /// What was written to an encoder that has its output for itself.
    func tree() throws(CodingFailure) -> Value {
        try finish()
        var reader = CBORReader(checked: output.writer.bytes)
        return try reader.value()
    }

    private var detached: [Detached] { aside?.detached ?? [] }

    private func finish() throws(CodingFailure) {
        if let innermost {
            try innermost.finish()
            contents.pointee.openLevel = level
        }
        if let aside {
            if let refused = aside.refused { throw refused }
            try placeDetached(aside.detached)
        }
        guard contents.pointee.openLevel == level else { throw writtenElsewhere }
        switch kind {
        case .single: break
        case .array: contents.pointee.writer.closeContainer(.array, at: start.bytes, count: count)
        case .map:
            let areDistinct = contents.pointee.closeMap(from: start)
            if hasNested, !areDistinct { throw refusal(Self.containerTwice) }
        case .nothing: throw refusal("the type encoded nothing; encode a value, or an empty container")
        }
    }

    /// Puts the bytes of detached containers where they belong.
    private func placeDetached(_ detached: [Detached]) throws(CodingFailure) {
        var moved = 0
        let entries = contents.pointee.entries[from: start.entries]
        var entry = 0
        for detached in detached {
            try detached.encoder.finish()
            while entry < entries.count, entries[entry].start < detached.offset {
                entries[entry].start += moved
                entry += 1
            }
            let bytes = detached.encoder.contents.pointee.writer.bytes
            contents.pointee.writer.insert(bytes, at: detached.offset + moved)
            moved += bytes.count
        }
        while entry < entries.count {
            entries[entry].start += moved
            entry += 1
        }
    }

    /// Lets go of the containers within, which know this one; from now on nothing can be written here.
    func close() {
        level = -1
        if var child = innermost.take() {
            child.close()
            if isKnownUniquelyReferenced(&child) { contents.pointee.keep(child) }
        }
        guard let aside else { return }
        for detached in aside.detached { detached.encoder.close() }
        self.aside = nil
    }
}
