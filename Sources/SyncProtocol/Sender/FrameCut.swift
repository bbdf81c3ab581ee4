package import StateCoding

/// The next frame of a sender: its header, and the ranges of the chunks that it contains.
package struct FrameCut: Hashable, Sendable {
    let lineage: Lineage
    let session: SessionID
    let opened: JournalSequence
    let base: ActionNumber
    package let first: ActionNumber
    /// The number of actions.
    package let count: Int
    let ranges: [ArraySlice<UInt8>]

    /// The size of the actions, with their heads.
    package var actionBytes: Int { ranges.reduce(0) { $0 + $1.count } }

    /// Writes the frame, which equals an ``ActionsFrame`` of the same actions.
    package func write(to writer: inout CBORWriter) {
        writer.begin(.actions)
        writer.write(lineage)
        writer.write(session)
        writer.write(opened)
        writer.write(base)
        writer.write(first)
        writer.array(count: count)
        for range in ranges { writer.encoded(range) }
    }
}
