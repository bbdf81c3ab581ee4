/// The bytes that one run of an encoder has written, and the state of its open containers.
final class EncodingOutput {
    // The encoders of a run use the contents through a pointer, without counting references and checking exclusivity.
    struct Contents {
        var writer: CBORWriter
        /// The entries of the open maps, the innermost map's last.
        var entries = EntryStack()
        /// The number of nested containers that are open.
        var openLevel = 0
        /// Whether a run goes on. Its end is the end of all encoders that use this output.
        var isRunning = false
        /// Whether a class instance among the values is an error.
        var refusesClasses: Bool
        /// Whether dates are written as texts, for people, where such a text reads back as the same date.
        var datesAreText = false
        /// Encoders without other owners, to be used again: new ones would cost 11 % of encoding an action.
        var idleEncoders: [ItemEncoder] = []
        /// The root of the last run.
        var root: CodingPathNode?
    }

    let contents: UnsafeMutablePointer<Contents>

    private static let pool = ObjectPool<EncodingOutput>()

    init(reserving capacity: Int = 256, refusesClasses: Bool = false) {
        contents = .allocate(capacity: 1)
        contents.initialize(
            to: Contents(writer: CBORWriter(reserving: capacity), refusesClasses: refusesClasses)
        )
    }

    deinit {
        contents.pointee.entries.deallocate()
        contents.deinitialize(count: 1)
        contents.deallocate()
    }

    /// Calls `body` with an empty output, for one run.
    static func run<Result>(
        refusesClasses: Bool = false,
        datesAreText: Bool = false,
        _ body: (EncodingOutput) throws -> Result
    ) rethrows -> Result {
        var output = pool.acquire() ?? EncodingOutput()
        output.contents.pointee.isRunning = true
        output.contents.pointee.refusesClasses = refusesClasses
        output.contents.pointee.datesAreText = datesAreText
        defer {
            output.contents.pointee.endRun()
            let isSmall = output.contents.pointee.writer.capacity <= CBORWriter.maxPooledBytes
            if isSmall, isKnownUniquelyReferenced(&output) { pool.release(output) }
        }
        return try body(output)
    }

    /// The root of a run.
    func root(_ limits: CodingLimits) -> CodingPathNode {
        if let root = contents.pointee.root, root.limits == limits { return root }
        let root = CodingPathNode(limits: limits)
        contents.pointee.root = root
        return root
    }

    var writer: CBORWriter {
        _read { yield contents.pointee.writer }
        _modify { yield &contents.pointee.writer }
    }

    /// A state of the output to roll back to if the next part fails.
    struct Mark {
        let bytes: Int
        let entries: Int
    }

    var mark: Mark { contents.pointee.mark }

    /// Moves the bytes and entries after a mark into an output of their own.
    func split(at mark: Mark) -> EncodingOutput {
        let rest = EncodingOutput(
            reserving: writer.count - mark.bytes,
            refusesClasses: contents.pointee.refusesClasses
        )
        rest.contents.pointee.datesAreText = contents.pointee.datesAreText
        writer.withBytes { rest.writer.encoded($0[mark.bytes...]) }
        for var entry in contents.pointee.entries[from: mark.entries] {
            entry.start -= mark.bytes
            rest.contents.pointee.entries.append(entry)
        }
        contents.pointee.rollBack(to: mark)
        return rest
    }

    // MARK: Entries of a collection, which come in the order of the collection

    /// Writes a key of a collection, in its canonical form; its content must follow.
    func beginEntry<Key: Encodable>(_ key: Key, at place: @autoclosure () -> CodingPath) throws {
        if Key.self == String.self {
            do throws(CodingFailure) {
                return try contents.pointee.beginEntry(cast(key, to: String.self))
            } catch {
                throw place().failure(error.code, error.message)
            }
        }
        let start = writer.count
        if Key.self == Int.self {
            writer.integer(Int64(cast(key, to: Int.self)))
        } else {
            let place = place()
            try encodeItem(key, into: self, under: place.key, in: place.node)
            writer.makeCanonical(from: start)
            if writer.withBytes({ $0[start...].elementsEqual([0xF9, 0x7E, 0x00]) }) {
                throw place.failure(.unencodable, CBORWriter.keyIsNaN)
            }
        }
        contents.pointee.entries.append(writer.entry(from: start))
    }

    /// Sorts the entries after a mark by their keys.
    ///
    /// - Returns: Whether the keys differ.
    func endEntries(from mark: Mark) -> Bool {
        let entries = contents.pointee.entries[from: mark.entries]
        let distinct = contents.pointee.writer.sort(entries)
        contents.pointee.entries.removeAll(from: mark.entries)
        return distinct == entries.count
    }
}

extension EncodingOutput.Contents {
    var mark: EncodingOutput.Mark { EncodingOutput.Mark(bytes: writer.count, entries: entries.count) }

    /// Keeps an encoder without other owners for the rest of the run.
    @inline(__always)
    mutating func keep(_ encoder: consuming ItemEncoder) {
        guard isRunning else { return }
        encoder.detachFromParent()
        idleEncoders.append(encoder)
    }

    fileprivate mutating func endRun() {
        isRunning = false
        for index in idleEncoders.indices { idleEncoders[index].endRun() }
        rollBack(to: EncodingOutput.Mark(bytes: 0, entries: 0))
        openLevel = 0
    }

    mutating func rollBack(to mark: EncodingOutput.Mark) {
        writer.truncate(to: mark.bytes)
        entries.removeAll(from: mark.entries)
    }

    /// Begins an entry of a map; its value must follow.
    ///
    /// - Throws: `unencodable`.
    @inline(__always)
    mutating func beginEntry(_ key: String) throws(CodingFailure) {
        entries.append(try writer.key(key))
    }

    /// Completes a map that begins at a mark: its head, and its entries in order.
    ///
    /// - Returns: Whether the keys differ. The last of duplicate keys wins.
    mutating func closeMap(from start: EncodingOutput.Mark) -> Bool {
        let written = entries.count - start.entries
        let count = writer.sort(entries[from: start.entries])
        entries.removeAll(from: start.entries)
        writer.closeContainer(.map, at: start.bytes, count: count)
        return count == written
    }
}

/// The entries of the open maps, the innermost map's last.
struct EntryStack {
    private var base: UnsafeMutablePointer<EncodedEntry>
    private var capacity: Int
    private(set) var count = 0

    init() {
        capacity = 16
        base = .allocate(capacity: capacity)
    }

    /// Ends the stack. Its output, the only owner, calls it once.
    func deallocate() {
        base.deallocate()
    }

    @inline(__always)
    mutating func append(_ entry: EncodedEntry) {
        if count == capacity { grow() }
        (base + count).initialize(to: entry)
        count += 1
    }

    mutating func removeAll(from first: Int) {
        precondition(first <= count, "expected to keep at most \(count) entries, got \(first)")
        count = first
    }

    subscript(from first: Int) -> UnsafeMutableBufferPointer<EncodedEntry> {
        precondition(first <= count, "expected at most \(count) entries, got \(first)")
        return UnsafeMutableBufferPointer(start: base + first, count: count - first)
    }

    @inline(never)
    private mutating func grow() {
        let larger = UnsafeMutablePointer<EncodedEntry>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: base, count: count)
        base.deallocate()
        (base, capacity) = (larger, capacity * 2)
    }
}
