/// The `Encoder` that a type's own `encode(to:)` gets. It writes each part at once. When the type asks for a container,
/// the encoder becomes the node of that container in the coding path.
///
/// Nested containers write into the same output as long as only the innermost one is written to. If the type writes to
/// another container, the nested container's bytes move to a separate buffer, to which the type can still add, and are
/// inserted in their place when the encoder finishes.
final class ItemEncoder: CodingPathNode, Encoder {
    enum Kind { case nothing, single, array, map }

    struct Detached {
        /// The offset at which its bytes belong.
        let offset: Int
        let encoder: ItemEncoder
    }

    /// The owner of the contents; an idle encoder has none between two runs.
    @exclusivity(unchecked) private var owner: EncodingOutput?
    private(set) var contents: UnsafeMutablePointer<EncodingOutput.Contents>
    /// The number of elements of an array.
    private(set) var count = 0
    private(set) var kind = Kind.nothing
    /// The beginning of this encoder's part of the output.
    private var start: EncodingOutput.Mark
    /// The number of open containers in the output while this one is the innermost; -1 once it is closed.
    private var level: Int
    /// Whether the type asked for containers within this one.
    private var hasNested = false
    /// The nested container that was opened last, as long as it writes into the same output.
    private var innermost: ItemEncoder?
    /// The nested containers that have outputs of their own.
    private var detached: [Detached] = []
    private var refused: CodingFailure?
    /// Whether there are detached containers or a refusal.
    private var isUnusual = false

    init(output: EncodingOutput, key: (any CodingKey)?, in node: CodingPathNode) {
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
        guard let owner else { preconditionFailure("an idle encoder has no output") }
        return owner
    }

    /// Lets a type encode itself, and completes its containers.
    static func encode<T: Encodable>(
        _ value: T,
        into output: EncodingOutput,
        under key: (any CodingKey)?,
        in node: CodingPathNode
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
    private static func make(_ output: EncodingOutput, _ key: (any CodingKey)?, _ node: CodingPathNode) -> ItemEncoder {
        guard let spare = output.contents.pointee.idleEncoders.popLast() else {
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
        return keyedContainers(for: type).encoding(by: self)
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if kind != .array { become(.array) }
        return ItemUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

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
            throw CodingPath(node: self, key: DataKey.name(name)).failure(.unencodable, CodingFailure.tooManyMarks)
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

    /// A state to roll back to if a part fails: a type may go on without it.
    struct State {
        fileprivate let contents: UnsafeMutablePointer<EncodingOutput.Contents>
        fileprivate let mark: EncodingOutput.Mark
        fileprivate let count: Int
        fileprivate let kind: Kind
        /// The number of containers with outputs of their own.
        fileprivate let detached: Int
    }

    /// The current state, after open nested containers have been detached.
    func saveState() throws(CodingFailure) -> State {
        try prepare()
        return State(
            contents: contents,
            mark: contents.pointee.mark,
            count: count,
            kind: kind,
            detached: detached.count
        )
    }

    func rollBack(to state: State) {
        guard state.contents == contents else { return refuse(writtenElsewhere) }
        // Containers that were opened since have no place any more.
        innermost.take()?.close()
        for detached in detached[state.detached...] { detached.encoder.close() }
        detached.removeSubrange(state.detached...)
        contents.pointee.openLevel = level
        contents.pointee.rollBack(to: state.mark)
        (count, kind) = (state.count, state.kind)
    }

    /// Makes sure that the next part can be written.
    @inline(__always)
    private func prepare() throws(CodingFailure) {
        if innermost == nil, !isUnusual, contents.pointee.openLevel == level { return }
        try detachInnermost()
    }

    @inline(never)
    private func detachInnermost() throws(CodingFailure) {
        if let innermost { detach(innermost) }
        if let refused { throw refused }
        guard contents.pointee.openLevel == level else { throw writtenElsewhere }
    }

    private var writtenElsewhere: CodingFailure {
        refusal("the type wrote into a container at a time when another one was open, or when its value was complete")
    }

    static let containerTwice =
        "the type wrote twice under one key, and a container is among it; ask for a container once, and keep it"

    private func refusal(_ message: String) -> CodingFailure { failure(.unencodable, message) }

    private func refuse(_ failure: CodingFailure) {
        refused = failure
        isUnusual = true
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
        child.detached = child.detached.map { Detached(offset: $0.offset - offset, encoder: $0.encoder) }
        child.level = 1
        child.contents.pointee.openLevel = 1
        contents.pointee.openLevel = level
        detached.append(Detached(offset: offset, encoder: child))
        isUnusual = true
        innermost = nil
    }

    /// The value that was written to an encoder with an output of its own.
    func tree() throws(CodingFailure) -> Value {
        try finish()
        return output.writer.value
    }

    private func finish() throws(CodingFailure) {
        if let innermost {
            try innermost.finish()
            contents.pointee.openLevel = level
        }
        if isUnusual {
            if let refused { throw refused }
            try placeDetached()
        }
        guard contents.pointee.openLevel == level else { throw writtenElsewhere }
        switch kind {
        case .single: break
        case .array: contents.pointee.writer.closeContainer(.array, at: start.bytes, count: count)
        case .map:
            let areDistinct = contents.pointee.closeMap(from: start)
            if hasNested, !areDistinct { throw refusal(Self.containerTwice) }
        // As Foundation does.
        case .nothing:
            try checkDepth()
            contents.pointee.writer.map(count: 0)
        }
    }

    /// Puts the bytes of detached containers where they belong.
    private func placeDetached() throws(CodingFailure) {
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

    /// Releases the nested containers, which retain this one. Nothing can be written here afterwards.
    func close() {
        level = -1
        if var child = innermost.take() {
            child.close()
            if isKnownUniquelyReferenced(&child) { contents.pointee.keep(child) }
        }
        guard isUnusual else { return }
        for detached in detached { detached.encoder.close() }
        (detached, refused, isUnusual) = ([], nil, false)
    }
}

/// The only value.
extension ItemEncoder: SingleValueEncodingContainer {
    func encodeNil() throws {
        try beginSingle()
        contents.pointee.writer.null()
    }

    func encode<T: Encodable>(_ value: T) throws {
        let state = try saveState()
        do {
            try beginSingle()
            guard let parent else { preconditionFailure("an encoder stands in no container") }
            try encodeItem(value, into: output, under: key, in: parent)
        } catch {
            rollBack(to: state)
            throw error
        }
    }

    private func beginSingle() throws(CodingFailure) {
        try prepare()
        guard kind == .nothing else {
            throw refusal("the type encoded more than one value into a single-value container")
        }
        kind = .single
    }
}
