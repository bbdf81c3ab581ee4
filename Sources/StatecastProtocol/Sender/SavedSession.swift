package import DequeModule
package import StatecastCoding
import StatecastCore

/// A saved session, which outlives the sender's process: the actions whose outcome is still needed, their identities
/// on the wire, and the progress in the input.
package struct SavedSession: Equatable, Sendable {
    package let store: StoreName
    package private(set) var checkpoint: SessionCheckpoint
    /// The progress in the input.
    package private(set) var mark = InputMark.start
    /// Whether the input ended at `mark`.
    package private(set) var isInputEnded = false
    /// The chunks of the kept actions. The first one may have earlier actions, too.
    private(set) var chunks: Deque<ActionChunk> = []
    /// The outcomes of kept actions, in the order of their tickets.
    package private(set) var outcomes: Deque<ResolvedRun> = []
    /// The first kept action, or the next one.
    private(set) var first = Ticket(rawValue: 1)
    /// The last assigned ticket.
    package private(set) var last = Ticket(rawValue: 0)

    /// A fresh session.
    package init(store: StoreName, _ secret: SessionSecret) {
        self.store = store
        checkpoint = SessionCheckpoint(fresh: secret)
    }

    /// The actions, the oldest first; their tickets have no gaps up to `last`.
    package var actions: [SavedAction] {
        var actions: [SavedAction] = []
        var outcomes = outcomes[...]
        for chunk in chunks {
            var offset = 0
            var marks = chunk.marks[...]
            for index in 0..<chunk.count {
                let (ticket, content) = (chunk.first.advanced(by: index), chunk.action(at: offset))
                offset = content.upperBound
                let mark = marks.first?.ticket == ticket ? marks.removeFirst().mark : nil
                while let run = outcomes.first, run.end <= ticket { outcomes.removeFirst() }
                guard ticket >= first else { continue }
                let outcome = outcomes.first.flatMap { $0.first <= ticket ? $0.outcome(of: ticket) : nil }
                let bytes = Array(chunk.bytes[content])
                actions.append(SavedAction(ticket: ticket, position: mark?.position, bytes: bytes, outcome: outcome))
            }
        }
        return actions
    }

    private var keptCount: Int { last.next.distance(beyond: first) }

    /// The number of actions without an outcome.
    package var outstandingCount: Int { keptCount - outcomes.reduce(0) { $0 + $1.count } }

    /// Whether actions remain whose outcome was not acknowledged, or input that did not end.
    package var isUnfinished: Bool { keptCount > 0 || mark != .start && !isInputEnded }

    /// Applies a change.
    ///
    /// - Throws: ``CodingFailure`` if the change cannot follow this session.
    package mutating func apply(_ change: SessionChange) throws(CodingFailure) {
        checkpoint = change.checkpoint ?? checkpoint
        for chunk in change.chunks { try append(chunk) }
        for run in change.resolved { try insert(run) }
        if let acknowledged = change.acknowledged {
            let next = min(acknowledged, last).next
            dropOutcomes(before: next)
            guard first >= next else {
                throw CodingFailure(.malformed, "action \(first.rawValue) is acknowledged and has no outcome")
            }
        }
        mark = change.mark ?? mark
        isInputEnded = change.isInputEnded ?? isInputEnded
    }

    private mutating func append(_ chunk: ActionChunk) throws(CodingFailure) {
        guard chunk.first == last.next else {
            throw CodingFailure(.malformed, "expected action \(last.next.rawValue), got \(chunk.first.rawValue)")
        }
        chunks.append(chunk)
        last = chunk.last
    }

    private mutating func insert(_ run: ResolvedRun) throws(CodingFailure) {
        let index = outcomes.lastIndex { $0.first < run.end }.map { $0 + 1 } ?? outcomes.startIndex
        let previous = index > outcomes.startIndex ? outcomes[index - 1].end : first
        guard run.first >= max(first, previous), run.count <= last.next.distance(beyond: run.first) else {
            throw CodingFailure(.malformed, "action \(run.first.rawValue) already has an outcome or is unknown")
        }
        outcomes.insert(run, at: index)
    }

    /// Checks that a sender can resume the session: the sent actions have consecutive numbers from the checkpoint on,
    /// which a primary accepts.
    ///
    /// - Throws: ``CodingFailure`` that names the wrong number.
    package func requireResumable() throws(CodingFailure) {
        let (registration, lowest) = (checkpoint.registration, checkpoint.first)
        guard lowest.rawValue >= 1,
            registration.map({ $0.base.rawValue >= 1 && $0.base <= lowest }) ?? true
        else {
            throw CodingFailure(.malformed, "session \(checkpoint.session) cannot continue with number \(lowest)")
        }
        var (next, ticket) = (lowest, first)
        /// Actions without an outcome were sent if the primary may know the session.
        func skip(to end: Ticket) {
            if registration != nil { next = next.advanced(by: end.distance(beyond: ticket)) }
            ticket = end
        }
        for run in outcomes {
            skip(to: run.first)
            ticket = run.end
            guard let sent = run.sent, sent.session == checkpoint.session,
                sent.number.advanced(by: run.count) > lowest
            else { continue }
            guard registration != nil, sent.number == next else {
                throw CodingFailure(
                    .malformed,
                    "action \(run.first.rawValue) was sent under number \(sent.number), expected \(next)"
                )
            }
            next = next.advanced(by: run.count)
        }
        skip(to: last.next)
        guard next <= ActionsHeader.maxEnd else {
            throw CodingFailure(.malformed, "the numbers end at \(next), beyond \(ActionsHeader.maxEnd)")
        }
    }

    /// Begins another input.
    package mutating func beginInput() { (mark, isInputEnded) = (.start, false) }

    /// Drops the oldest actions that have their outcome, after a change was applied that does not keep them.
    package mutating func dropResolved(after change: SessionChange) {
        if change.keepsOutcomes != true { dropOutcomes(before: last.next) }
    }

    /// Drops the oldest actions that have their outcome, up to a ticket.
    private mutating func dropOutcomes(before end: Ticket) {
        while let run = outcomes.first, run.first == first, first < end {
            outcomes.removeFirst()
            first = min(run.end, end)
            if first < run.end { outcomes.prepend(run.clamped(to: first..<run.end)) }
        }
        while let chunk = chunks.first, chunk.end <= first { chunks.removeFirst() }
    }

    /// Whether both have the same actions and outcomes, in whatever chunks and runs.
    package static func == (left: Self, right: Self) -> Bool {
        (left.store, left.checkpoint, left.mark, left.isInputEnded, left.last)
            == (right.store, right.checkpoint, right.mark, right.isInputEnded, right.last)
            && left.actions == right.actions
    }
}

/// A saved action, which is kept until its outcome is not needed any more.
package struct SavedAction: Hashable, Sendable {
    package let ticket: Ticket
    /// Its position in the sender's input, if known.
    package let position: UInt64?
    /// The encoded action; empty for a piece of input that is not an action.
    package let bytes: [UInt8]
    package let outcome: ResolvedAction?
}

/// The part of a session's state that only the sender has.
package struct SessionCheckpoint: Hashable, Sendable {
    /// The session as one lineage of the primary knows it.
    package struct Registration: Hashable, Sendable {
        package let lineage: Lineage
        let opened: JournalSequence
        let base: ActionNumber
        /// The last incarnation that sent a receipt.
        var resolvedBy = Epoch(0)
    }

    package let secret: SessionSecret
    package var session: SessionID { secret.session }
    /// `nil` as long as no action can have been sent.
    package let registration: Registration?
    /// The oldest number without a receipt, or the next number.
    package let first: ActionNumber

    /// A session in which no action was sent.
    package init(fresh secret: SessionSecret) { self.init(secret, registration: nil, first: ActionNumber(1)) }

    init(_ secret: SessionSecret, registration: Registration?, first: ActionNumber) {
        self.secret = secret
        self.registration = registration
        self.first = first
    }

    /// Whether actions have the same identity under both. If not, the new checkpoint must be saved before a frame is
    /// sent.
    package func identifiesActions(like other: SessionCheckpoint) -> Bool {
        session == other.session && registration?.lineage == other.registration?.lineage
            && registration?.opened == other.registration?.opened && registration?.base == other.registration?.base
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

/// The encoding in CBOR, for the session file: an array of 7 elements, to which later versions may append some.
extension SavedSession {
    package var encoded: [UInt8] {
        let size = chunks.reduce(0) { $0 + $1.bytes.count + 32 + 24 * $1.marks.count }
        var writer = CBORWriter(reserving: 128 + size + 64 * outcomes.count)
        writer.array(count: 7)
        writer.text(store.text)
        checkpoint.write(to: &writer)
        writer.write(mark)
        writer.bool(isInputEnded)
        writer.unsigned(last.rawValue)
        writer.array(count: chunks.count)
        for chunk in chunks { chunk.write(from: max(first, chunk.first), to: &writer) }
        writer.array(count: outcomes.count)
        for run in outcomes { run.write(to: &writer) }
        return writer.bytes
    }

    /// - Throws: ``CodingFailure`` that names the malformed part.
    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 7)
        let name = try reader.text()
        do { store = try StoreName(name) } catch { throw CodingFailure(.malformed, error.message) }
        checkpoint = try SessionCheckpoint(from: &reader)
        mark = try reader.mark()
        isInputEnded = try reader.bool()
        let last = Ticket(rawValue: try reader.unsigned())
        let chunks = try reader.list { reader throws(CodingFailure) in try ActionChunk(from: &reader) }
        let resolved = try reader.list { reader throws(CodingFailure) in try ResolvedRun(from: &reader) }
        for _ in 7..<count { try reader.skip() }
        try reader.requireEnd()
        let kept = chunks.reduce(0) { $0 + $1.count }
        guard last.rawValue >= UInt64(kept), last.rawValue < .max else {
            throw CodingFailure(.malformed, "expected \(kept) actions up to \(last.rawValue)")
        }
        self.last = Ticket(rawValue: last.rawValue - UInt64(kept))
        first = self.last.next
        for chunk in chunks { try append(chunk) }
        for run in resolved { try insert(run) }
    }
}
