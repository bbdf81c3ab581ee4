/// Writes the wire form of a patch as the differ finds the changes, and adds up what they change in the state's
/// summary. An object, because the differ's closures share it.
///
/// Functions that write return whether there is a change; if not, they have written nothing.
final class PatchWriter {
    let output: EncodingOutput
    // One difference at a time uses a writer, so dynamic exclusivity checks would find nothing.
    @exclusivity(unchecked) var summary = SummaryChange()

    private init(_ output: EncodingOutput) {
        self.output = output
    }

    /// The patch that `body` writes; `nil` if it writes none.
    static func run(_ body: (PatchWriter) throws -> Bool) rethrows -> (patch: Patch, summary: SummaryChange)? {
        try EncodingOutput.run(refusesClasses: true) { output in
            let writer = PatchWriter(output)
            return try body(writer) ? (Patch(checked: output.writer.bytes), writer.summary) : nil
        }
    }

    /// A state to return to.
    struct Mark {
        fileprivate let output: EncodingOutput.Mark
        let summary: SummaryChange

        /// The number of bytes.
        var offset: Int { output.bytes }
    }

    var mark: Mark { Mark(output: output.mark, summary: summary) }

    /// Removes what was written after a mark.
    func rollBack(to mark: Mark) {
        output.contents.pointee.rollBack(to: mark.output)
        summary = mark.summary
    }

    /// The number of bytes that have been written.
    var offset: Int { output.writer.count }

    /// The bytes from an offset on.
    func bytes(from start: Int) -> [UInt8] { output.writer.withBytes { Array($0[start...]) } }

    /// Whether the patch that was written from an offset on replaces a whole part.
    func isReplacement(at offset: Int) -> Bool { output.writer.withBytes { $0[offset] == 0x81 } }

    // MARK: Replacements

    /// The head of a replacement; the new value must follow.
    func beginReplacement() { output.writer.array(count: 1) }

    func replace<P: Primitive>(_ old: P, with new: P, path: DigestPath) -> Bool {
        let start = mark
        beginReplacement()
        let newItem = offset
        new.write(to: &output.writer)
        let oldItem = offset
        old.write(to: &output.writer)
        // Items with other bytes may be the same, such as two spellings of a text.
        let isChanged = output.writer.withBytes { bytes in
            let (before, after) = (oldItem..<bytes.count, newItem..<oldItem)
            if before.count == after.count, byteOrder(bytes, before, after) == 0 { return false }
            let items = CheckedItems(bytes: bytes)
            return items.isCanonicalLeaf(before) && items.isCanonicalLeaf(after) || old.tree != new.tree
        }
        guard isChanged else {
            rollBack(to: start)
            return false
        }
        count(itemAt: oldItem, path: path, adding: false)
        count(itemAt: newItem, path: path, adding: true)
        output.writer.truncate(to: oldItem)
        return true
    }

    /// Replaces a part whose type has its own `encode(to:)`. It may encode equal values in different orders (a set that
    /// gets the encoder does), so that a patch of its parts would only fit the value that it was made from.
    func replaceWhole(_ old: Value, with new: Value, path: DigestPath) -> Bool {
        guard old != new else { return false }
        beginReplacement()
        output.writer.value(new)
        summary.replace(old, with: new, at: path)
        return true
    }

    // MARK: Parts of the summary

    /// Adds or removes the item that was written from an offset on.
    func count(itemAt offset: Int, path: DigestPath, adding: Bool) {
        output.writer.withBytes { bytes in
            _ = summary.count(CheckedItems(bytes: bytes), at: offset, path, adding: adding)
        }
    }

    /// Calls `body` with the offset of the item that `write` writes, and removes the item.
    func withItem(_ write: () throws -> Void, _ body: (Int) -> Void) rethrows {
        let start = offset
        try write()
        body(start)
        output.writer.truncate(to: start)
    }
}

/// The changes of a map's entries.
struct MapChanges {
    let writer: PatchWriter
    private let path: DigestPath
    private let start: PatchWriter.Mark

    init(path: DigestPath, by writer: PatchWriter) {
        self.writer = writer
        self.path = path
        start = writer.mark
        writer.output.writer.openContainer()
    }

    /// Writes an entry, in any order; nothing if `write`, which receives the entry's path, writes no change.
    @inline(__always)
    @discardableResult
    func change(_ writeKey: () throws -> Void, _ write: (DigestPath) throws -> Bool) throws -> Bool {
        let mark = writer.mark
        try writeKey()
        if try write(writer.output.writer.withBytes { path.key(UnsafeBufferPointer(rebasing: $0[mark.offset...])) }) {
            return true
        }
        writer.rollBack(to: mark)
        return false
    }

    /// Writes an entry whose new value `encode` writes.
    func insert(_ writeKey: () throws -> Void, _ encode: () throws -> Void) throws {
        let path = try enter(writeKey, adding: true)
        writer.beginReplacement()
        let value = writer.offset
        try encode()
        writer.count(itemAt: value, path: path, adding: true)
    }

    /// Writes the removal of an entry whose old value `encode` writes.
    func remove(_ writeKey: () throws -> Void, _ encode: () throws -> Void) throws {
        let path = try enter(writeKey, adding: false)
        writer.output.writer.null()
        try writer.withItem(encode) { writer.count(itemAt: $0, path: path, adding: false) }
    }

    /// Writes a key that is inserted or removed, and counts it.
    private func enter(_ writeKey: () throws -> Void, adding: Bool) throws -> DigestPath {
        let start = writer.offset
        try writeKey()
        return writer.output.writer.withBytes {
            writer.summary.enter(UnsafeBufferPointer(rebasing: $0[start...]), path, adding: adding)
        }
    }

    /// Whether no entry changed.
    var isEmpty: Bool { writer.output.mark.entries == start.output.entries }

    /// Ends the map, whose old and new numbers of entries are given.
    ///
    /// - Throws: `duplicateKey`.
    func finish(from old: Int, to new: Int, at place: @autoclosure () -> CodingPath) throws(CodingFailure) -> Bool {
        guard !isEmpty else {
            rollBack()
            return false
        }
        guard writer.output.contents.pointee.closeMap(from: start.output) else {
            throw place().failure(.duplicateKey, "two keys of the map have one encoding; keys must differ")
        }
        writer.summary.resize(.map, from: old, to: new, at: path)
        return true
    }

    /// Removes what was written.
    func rollBack() { writer.rollBack(to: start) }
}
