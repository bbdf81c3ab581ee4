import DequeModule
package import StateCoding
import StateCore

/// A saved session, which outlives the sender's process: the actions whose outcome is still needed, their identities
/// on the wire, and the progress in the input.
package struct SavedSession: Hashable, Sendable {
    package let store: StoreName
    package private(set) var standing: SessionCheckpoint
    /// The progress in the input.
    package private(set) var mark = InputMark.start
    /// Whether the input ended at `mark`.
    package private(set) var isInputEnded = false
    private var kept: Deque<SavedAction> = []
    /// The last assigned ticket.
    package private(set) var last = Ticket(rawValue: 0)

    /// A fresh session.
    package init(store: StoreName, session: SessionID) {
        self.store = store
        standing = SessionCheckpoint(fresh: session)
    }

    init(
        store: StoreName,
        standing: SessionCheckpoint,
        mark: InputMark,
        isInputEnded: Bool,
        actions: [SavedAction],
        last: Ticket
    ) {
        self.store = store
        self.standing = standing
        self.mark = mark
        self.isInputEnded = isInputEnded
        kept = Deque(actions)
        self.last = last
    }

    /// The actions, the oldest first; their tickets have no gaps up to `last`.
    package var actions: [SavedAction] { Array(kept) }

    /// The number of actions without an outcome.
    package var outstandingCount: Int { kept.count { $0.outcome == nil } }

    /// Whether actions remain whose outcome was not acknowledged, or input that did not end.
    package var isUnfinished: Bool { !kept.isEmpty || mark != .start && !isInputEnded }

    /// Applies a change.
    ///
    /// - Throws: ``CodingFailure`` if the change cannot follow this session.
    package mutating func apply(_ change: SessionChange) throws(CodingFailure) {
        standing = change.standing ?? standing
        for action in change.enqueued {
            guard action.ticket == last.next else {
                throw CodingFailure(.malformed, "expected action \(last.next.rawValue), got \(action.ticket.rawValue)")
            }
            kept.append(action)
            last = action.ticket
        }
        for resolved in change.resolved {
            guard let index = index(of: resolved.ticket), kept[index].outcome == nil else {
                throw CodingFailure(
                    .malformed,
                    "action \(resolved.ticket.rawValue) already has an outcome or is unknown"
                )
            }
            kept[index].outcome = resolved.outcome
        }
        if let acknowledged = change.acknowledged {
            while let first = kept.first, first.ticket <= acknowledged {
                guard first.outcome != nil else {
                    throw CodingFailure(
                        .malformed,
                        "action \(first.ticket.rawValue) is acknowledged and has no outcome"
                    )
                }
                kept.removeFirst()
            }
        }
        mark = change.mark ?? mark
        isInputEnded = change.isInputEnded ?? isInputEnded
    }

    /// Begins another input.
    package mutating func beginInput() { (mark, isInputEnded) = (.start, false) }

    /// Drops the oldest actions that have their outcome.
    package mutating func dropResolved() {
        while kept.first?.outcome != nil { kept.removeFirst() }
    }

    private func index(of ticket: Ticket) -> Int? {
        guard let first = kept.first?.ticket, ticket >= first, ticket <= last else { return nil }
        return kept.startIndex + Int(ticket.rawValue - first.rawValue)
    }
}

/// The part of a session's state that only the sender has.
package struct SessionCheckpoint: Hashable, Sendable {
    /// The session in one lineage of the primary.
    package struct Link: Hashable, Sendable {
        package let lineage: Lineage
        package let opened: JournalSequence
        package let base: ActionNumber
        /// The last incarnation that sent a receipt.
        package let resolvedBy: Epoch
    }

    package let session: SessionID
    /// `nil` as long as no action can have been sent.
    package let link: Link?
    /// The oldest number without a receipt, or the next number.
    package let first: ActionNumber

    /// A session in which no action was sent.
    package init(fresh session: SessionID) { self.init(session: session, link: nil, first: ActionNumber(1)) }

    init(session: SessionID, link: Link?, first: ActionNumber) {
        self.session = session
        self.link = link
        self.first = first
    }

    /// Whether actions have the same identity under both. If not, the new standing must be saved before a frame is
    /// sent.
    package func identifiesActions(like other: SessionCheckpoint) -> Bool {
        session == other.session && link?.lineage == other.link?.lineage && link?.opened == other.link?.opened
            && link?.base == other.link?.base
    }
}

/// The progress in a sender's input.
package struct InputMark: Hashable, Sendable {
    /// An ascending position, such as a line number.
    package let position: UInt64
    /// A digest of the input up to the position, which distinguishes it from another input.
    package let digest: UInt32

    package init(position: UInt64, digest: UInt32 = 0) {
        self.position = position
        self.digest = digest
    }

    /// The start of the input.
    package static let start = InputMark(position: 0)
}

// MARK: Coding

/// The encoding in CBOR, for the session file; later versions may append elements.
extension SavedSession {
    package var encoded: [UInt8] {
        var writer = CBORWriter(reserving: 128 + actions.reduce(0) { $0 + $1.byteCount })
        writer.array(count: 6)
        writer.text(store.text)
        standing.write(to: &writer)
        writer.write(mark)
        writer.bool(isInputEnded)
        writer.unsigned(last.rawValue)
        writer.array(count: actions.count)
        for action in actions { action.write(to: &writer) }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that names the malformed part.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 6)
        let name = try reader.text()
        let store: StoreName
        do { store = try StoreName(name) } catch { throw CodingFailure(.malformed, error.message) }
        let standing = try SessionCheckpoint(from: &reader)
        let mark = try reader.mark()
        let isInputEnded = try reader.bool()
        let last = Ticket(rawValue: try reader.unsigned())
        let actions = try reader.list { reader throws(CodingFailure) in try SavedAction(from: &reader) }
        for _ in 6..<count { try reader.skip() }
        try reader.requireEnd()
        for (action, ticket) in zip(actions.reversed(), sequence(first: last) { Ticket(rawValue: $0.rawValue &- 1) })
        where action.ticket != ticket {
            throw CodingFailure(.malformed, "expected action \(ticket.rawValue), got \(action.ticket.rawValue)")
        }
        self.init(
            store: store,
            standing: standing,
            mark: mark,
            isInputEnded: isInputEnded,
            actions: actions,
            last: last
        )
    }
}

extension SessionCheckpoint {
    func write(to writer: inout CBORWriter) {
        writer.array(count: 3)
        writer.write(session)
        if let link {
            writer.array(count: 4)
            writer.write(link.lineage)
            writer.write(link.opened)
            writer.write(link.base)
            writer.write(link.resolvedBy)
        } else {
            writer.null()
        }
        writer.write(first)
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        session = try reader.session()
        link = try reader.optional { reader throws(CodingFailure) in
            try reader.fixedArray(4)
            return Link(
                lineage: try reader.lineage(),
                opened: try reader.quantity(),
                base: try reader.quantity(),
                resolvedBy: try reader.quantity()
            )
        }
        first = try reader.quantity()
    }
}

extension CBORReader {
    mutating func mark() throws(CodingFailure) -> InputMark {
        try fixedArray(2)
        return InputMark(position: try unsigned(), digest: UInt32(truncatingIfNeeded: try unsigned()))
    }
}

extension CBORWriter {
    mutating func write(_ mark: InputMark) {
        array(count: 2)
        unsigned(mark.position)
        unsigned(UInt64(mark.digest))
    }
}
