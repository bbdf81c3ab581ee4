package import StatecastCoding

/// The next frame of a sender: its header, and the ranges of the chunks that it contains.
package struct OutgoingFrame: Hashable, Sendable {
    package let header: ActionsHeader
    /// Of the header's session.
    let secret: SessionSecret
    let ranges: [ArraySlice<UInt8>]

    /// Writes the frame. The bytes are those of an ``ActionsFrame`` with the same actions.
    package func write(to writer: inout CBORWriter) {
        header.write(to: &writer, secret)
        for range in ranges { writer.encoded(range) }
    }
}
