package import StatecastCoding

/// The header of a frame of actions. In the frame, the secret of the session stands for the session.
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

    /// The identity of the frame in a refusal.
    package var identity: Refusal.PushedFrame { Refusal.PushedFrame(opened: opened, first: first) }

    /// Begins a frame. `count` byte strings must follow.
    ///
    /// - Parameter secret: of the session.
    func write(to writer: inout CBORWriter, _ secret: SessionSecret) {
        precondition(secret.session == session, "a frame of session \(session) with \(secret)")
        writer.begin(.actions)
        writer.write(lineage)
        writer.write(secret)
        writer.write(opened)
        writer.write(base)
        writer.write(lowest)
        writer.write(first)
        writer.array(count: count)
    }
}

extension ActionsHeader {
    init(from reader: inout CBORReader) throws(CodingFailure) {
        self.init(
            lineage: try reader.lineage(),
            session: try reader.secret().session,
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

    /// The bytes of a range of the actions.
    package subscript(range: Range<Int>) -> ArraySlice<UInt8> {
        actions[(actions.startIndex + range.lowerBound)..<(actions.startIndex + range.upperBound)]
    }

    /// The actions from an offset on, which must be the start of an action or the end.
    package func items(from offset: Int = 0) -> ActionItems { ActionItems(actions, from: offset) }

    /// Copies of the actions.
    package var contents: [[UInt8]] { items().map { Array(self[$0.content]) } }

    /// Encodes the frame.
    ///
    /// - Parameter secret: of the session.
    package func write(to writer: inout CBORWriter, _ secret: SessionSecret) {
        header.write(to: &writer, secret)
        writer.encoded(actions)
    }

    /// Decodes a frame, and skips elements of later versions. Checks the heads of all actions, so that reading them
    /// later cannot fail.
    ///
    /// - Throws: ``CodingFailure`` for anything that is not a frame of actions; never traps.
    package init(decoding bytes: ArraySlice<UInt8>) throws(CodingFailure) {
        var reader = CBORReader(bytes, limits: .frame)
        let (kind, laterCount) = try reader.frameHead()
        guard kind == .actions else {
            throw CodingFailure(.malformed, "expected a frame of actions, got one of kind \(kind.rawValue)")
        }
        header = try ActionsHeader(from: &reader)
        let items = try reader.encodedByteStrings(count: header.count)
        // A frame keeps its message, which must not be larger than what a primary counts.
        actions = laterCount == 0 ? items : Array(items)[...]
        for _ in 0..<laterCount { try reader.skip() }
        try reader.requireEnd()
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
