/// What one run of an encoder has written, and what its open containers remember.
final class EncodingOutput {
    /// Nobody else reaches the contents; behind a pointer they are spared the checks for that, which cost more than
    /// writing a field.
    struct Contents {
        var writer: CBORWriter
        /// The entries of the open maps, the innermost map's last.
        var entries = EntryStack()
        /// How many containers are open, one inside the other.
        var openLevel = 0
        /// Whether a run goes on, which ends the encoders that know this output.
        var isRunning = false
        /// Whether a class instance among the values is an error.
        var refusesClasses: Bool
        /// Encoders that nobody uses any more: making one anew costs more than writing a field.
        var spareEncoders: [ItemEncoder] = []
        /// Nodes of a root have nothing but their limits, so one serves many runs.
        var root: PathNode?
    }

    let contents: UnsafeMutablePointer<Contents>

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

    var writer: CBORWriter {
        _read { yield contents.pointee.writer }
        _modify { yield &contents.pointee.writer }
    }

    /// Where the output stands, to come back to if what follows fails.
    struct Mark {
        let bytes: Int
        let entries: Int
    }

    var mark: Mark { contents.pointee.mark }

    /// Moves what was written behind a mark into an output of its own.
    func split(at mark: Mark) -> EncodingOutput {
        let rest = EncodingOutput(
            reserving: writer.count - mark.bytes,
            refusesClasses: contents.pointee.refusesClasses
        )
        writer.withBytes { rest.writer.encoded($0[mark.bytes...]) }
        for var entry in contents.pointee.entries[from: mark.entries] {
            entry.start -= mark.bytes
            rest.contents.pointee.entries.append(entry)
        }
        contents.pointee.takeBack(to: mark)
        return rest
    }
}

extension EncodingOutput.Contents {
    var mark: EncodingOutput.Mark { EncodingOutput.Mark(bytes: writer.count, entries: entries.count) }

    /// Keeps an encoder that nobody uses any more, for the rest of the run.
    @inline(__always)
    mutating func keep(_ encoder: consuming ItemEncoder) {
        guard isRunning else { return }
        encoder.leave()
        spareEncoders.append(encoder)
    }

    mutating func endRun() {
        isRunning = false
        for index in spareEncoders.indices { spareEncoders[index].endRun() }
        takeBack(to: EncodingOutput.Mark(bytes: 0, entries: 0))
        openLevel = 0
    }

    mutating func takeBack(to mark: EncodingOutput.Mark) {
        writer.truncate(to: mark.bytes)
        entries.removeAll(from: mark.entries)
    }

    /// Begins an entry of a map; its value comes next.
    ///
    /// - Throws: `unencodable`.
    @inline(__always)
    mutating func beginEntry(_ key: String) throws(CodingFailure) {
        entries.append(try writer.key(key))
    }

    /// Completes a map that begins at a mark: its head, and its entries in order.
    ///
    /// - Returns: whether the keys differ. Of two entries with one key the later stays.
    mutating func closeMap(from start: EncodingOutput.Mark) -> Bool {
        let written = entries.count - start.entries
        let count = writer.sort(entries[from: start.entries])
        entries.removeAll(from: start.entries)
        writer.closeContainer(.map, at: start.bytes, count: count)
        return count == written
    }
}
