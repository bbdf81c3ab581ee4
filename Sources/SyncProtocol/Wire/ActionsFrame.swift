package import StateCoding

/// The header of a frame of actions.
package struct ActionsHeader: Hashable, Sendable {
    package let lineage: Lineage
    package let session: SessionID
    /// The journal sequence at which the session was opened, from its first watermark.
    package let opened: JournalSequence
    /// The number with which the session began in this lineage.
    package let base: ActionNumber
    /// The lowest number whose outcome the sender may still need: the primary may forget those of lower numbers.
    package let lowest: ActionNumber
    package let first: ActionNumber
    /// The number of actions that follow.
    package let count: Int

    package init(
        lineage: Lineage,
        session: SessionID,
        opened: JournalSequence,
        base: ActionNumber,
        lowest: ActionNumber,
        first: ActionNumber,
        count: Int
    ) {
        self.lineage = lineage
        self.session = session
        self.opened = opened
        self.base = base
        self.lowest = lowest
        self.first = first
        self.count = count
    }

    /// The identity of the frame in a refusal.
    package var identity: Refusal.PushedFrame { Refusal.PushedFrame(opened: opened, first: first) }

    /// Begins a frame. `count` byte strings must follow.
    package func write(to writer: inout CBORWriter) {
        writer.begin(.actions)
        writer.write(lineage)
        writer.write(session)
        writer.write(opened)
        writer.write(base)
        writer.write(lowest)
        writer.write(first)
        writer.array(count: count)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            session: try reader.session(),
            opened: try reader.quantity(),
            base: try reader.quantity(),
            lowest: try reader.quantity(),
            first: try reader.quantity(),
            count: try reader.arrayCount()
        )
    }
}

/// Consecutive actions of one session, from a sender to the primary.
///
/// The actions stay in the bytes of the message. An object for each would cost more than reducing it, and would occupy
/// many times the size of a small action.
package struct ActionsFrame: Hashable, Sendable {
    package let header: ActionsHeader
    /// The actions, each a byte string that contains `[name, payload]`. Ranges and offsets count from its start.
    package let actions: ArraySlice<UInt8>

    /// - Parameter lowest: `nil` for `base`.
    package init(
        lineage: Lineage,
        session: SessionID,
        opened: JournalSequence,
        base: ActionNumber,
        lowest: ActionNumber? = nil,
        first: ActionNumber,
        actions: [[UInt8]]
    ) {
        header = ActionsHeader(
            lineage: lineage,
            session: session,
            opened: opened,
            base: base,
            lowest: lowest ?? base,
            first: first,
            count: actions.count
        )
        self.actions =
            CBORWriter.bytes(reserving: actions.reduce(0) { $0 + $1.count + 5 }) { writer in
                for action in actions { writer.bytes(action) }
            }[...]
    }

    /// The identity of this frame in a refusal.
    package var identity: Refusal.PushedFrame { header.identity }

    /// The same frame without the message that contained it.
    var copied: ActionsFrame { ActionsFrame(header: header, bytes: Array(actions)) }

    private init(header: ActionsHeader, bytes: [UInt8]) {
        self.header = header
        actions = bytes[...]
    }

    /// The bytes of a range of the actions.
    package subscript(range: Range<Int>) -> ArraySlice<UInt8> {
        actions[(actions.startIndex + range.lowerBound)..<(actions.startIndex + range.upperBound)]
    }

    /// The actions from an offset on, which must be the start of an action or the end.
    package func items(from offset: Int = 0) -> ActionItems { ActionItems(actions, from: offset) }

    /// Copies of the actions.
    package var contents: [[UInt8]] { items().map { Array(self[$0.content]) } }

    func write(to writer: inout CBORWriter) {
        header.write(to: &writer)
        writer.encoded(actions)
    }

    /// Checks the heads of all actions, so that reading them later cannot fail.
    init(from reader: inout CBORReader) throws(CodingFailure) {
        header = try ActionsHeader(from: &reader)
        actions = try reader.encodedByteStrings(count: header.count)
    }
}

/// The actions of a frame, one after the other.
package struct ActionItems: Sequence, IteratorProtocol {
    private let actions: ArraySlice<UInt8>
    /// The offset of the next action.
    package private(set) var offset: Int

    fileprivate init(_ actions: ArraySlice<UInt8>, from offset: Int) {
        precondition((0...actions.count).contains(offset), "\(offset) is no offset in \(actions.count) bytes")
        self.actions = actions
        self.offset = offset
    }

    /// The next action: the range of its byte string, and that of the string's content.
    package mutating func next() -> (item: Range<Int>, content: Range<Int>)? {
        guard offset < actions.count else { return nil }
        guard let content = actions.contentOfByteString(at: offset) else {
            preconditionFailure("there is no action at \(offset) of \(actions.count) bytes")
        }
        defer { offset = content.upperBound }
        return (offset..<content.upperBound, content)
    }
}
