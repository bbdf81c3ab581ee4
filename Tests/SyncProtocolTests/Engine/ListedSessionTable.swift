import StateCoding
import StateCore
@testable import SyncProtocol

/// The table of sessions that keeps each outcome by itself: what ``SessionTable`` must equal.
///
/// The sessions of a store: for each sender the last number and the last outcomes.
///
/// The table is bounded: to admit a session it evicts the longest idle one. An evicted session must never be
/// mistaken for a new one, or its resent actions would be applied twice. The table therefore keeps one number for all
/// evicted sessions, the horizon: an unknown session is new only if it was opened at or after it.
struct ListedSessionTable: Hashable, Sendable {
    /// The state of one session.
    struct Session: Hashable, Sendable {
        /// The journal sequence at which the session was opened.
        let opened: JournalSequence
        /// The last reduced number; its outcome may not be durable yet.
        var reduced: ActionNumber
        /// The last number whose outcome is durable.
        var durable: ActionNumber
        /// The outcomes of the last reduced numbers.
        var log: OutcomeLog
        /// The time of the last use, as a count of uses in the table.
        fileprivate(set) var used: UInt64 = 0

        init(opened: JournalSequence, base: ActionNumber) {
            self.opened = opened
            reduced = base.previous
            durable = base.previous
            log = OutcomeLog(first: base)
        }

        /// The next number of the session.
        var expected: ActionNumber { reduced.next }

        /// Records the outcome of the next number.
        mutating func append(_ outcome: Outcome, countMax: Int) {
            reduced = reduced.next
            log.append(outcome, countMax: countMax)
        }

        /// Drops the messages of the oldest durable rejections until at most `bytesMax` bytes are left.
        mutating func dropMessages(bytesMax: Int) { log.dropMessages(through: durable, bytesMax: bytesMax) }

        /// Rolls back to the last durable number.
        mutating func rewind() {
            log.rewind(to: durable.next)
            reduced = durable
        }
    }

    private var sessions: [SessionID: Session] = [:]
    /// The primary's own session: always known, never evicted, not counted.
    private(set) var own = Session(opened: JournalSequence(0), base: ActionNumber(1))
    private var uses: UInt64 = 0
    /// Sessions that were opened below it may have been evicted.
    private(set) var horizon = JournalSequence(0)
    /// The sessions that were evicted since the last record.
    private var forgotten: [SessionID] = []

    init() {}

    /// Restores a table; `sessions` begins with the longest idle one.
    init(horizon: JournalSequence, own: Session, sessions: [(id: SessionID, session: Session)]) {
        self.horizon = horizon
        self.own = own
        for (id, session) in sessions { insert(id, session) }
    }

    /// The number of senders.
    var count: Int { sessions.count }

    subscript(id: SessionID) -> Session? { id == .primary ? own : sessions[id] }

    /// Changes a session in place, and updates its last use.
    mutating func update(_ id: SessionID, _ change: (inout Session) -> Void) {
        guard id != .primary else { return change(&own) }
        uses += 1
        guard let index = sessions.index(forKey: id) else { return }
        change(&sessions.values[index])
        sessions.values[index].used = uses
    }

    /// Admits a session, and evicts the longest idle one if there is no room.
    ///
    /// - Returns: `false` if all sessions have uncommitted actions, so that none can be evicted.
    mutating func open(_ id: SessionID, _ session: Session, countMax: Int) -> Bool {
        while sessions.count >= countMax {
            let idle = sessions.lazy.filter { $0.value.reduced == $0.value.durable }
            guard let longest = idle.min(by: { $0.value.used < $1.value.used }) else { return false }
            forget(longest.key)
            forgotten.append(longest.key)
        }
        insert(id, session)
        return true
    }

    private mutating func insert(_ id: SessionID, _ session: Session) {
        uses += 1
        sessions[id] = session
        sessions[id]?.used = uses
    }

    /// Returns the sessions that were evicted since the last call.
    mutating func drainForgotten() -> [SessionID] {
        defer { forgotten = [] }
        return forgotten
    }

    /// The sessions of senders, the longest idle one first.
    var byUse: [(id: SessionID, session: Session)] {
        sessions.sorted { $0.value.used < $1.value.used }.map { (id: $0.key, session: $0.value) }
    }

    private mutating func forget(_ id: SessionID) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        horizon = max(horizon, session.opened.next)
    }

    /// Rolls back all sessions to their last durable numbers. Sessions that were evicted stay evicted; the primary
    /// refuses them as unknown.
    ///
    /// - Parameter forgotten: the evicted sessions of the records that were rolled back, which the next record has to
    ///   list.
    mutating func rewind(forgetting forgotten: [SessionID]) {
        self.forgotten = forgotten + self.forgotten
        own.rewind()
        for index in sessions.values.indices { sessions.values[index].rewind() }
    }

    /// Whether this table of a snapshot is consistent with a table that was replayed from records:
    /// - common sessions have the same opening and the same durable number,
    /// - sessions only in the replayed table were evicted,
    /// - sessions only in this table have no durable outcomes.
    func agrees(with replayed: ListedSessionTable) -> Bool {
        own.durable == replayed.own.durable
            && sessions.allSatisfy { id, session in
                replayed.sessions[id].map { $0.opened == session.opened && $0.durable == session.durable }
                    ?? (session.log.start > session.durable)
            }
            && replayed.sessions.allSatisfy { id, session in sessions[id] != nil || session.opened < horizon }
    }

    /// Applies the outcomes of a record.
    ///
    /// - Parameters:
    ///     - countMax: the number of outcomes that a session remembers.
    ///     - messageBytesMax: the size of the rejection messages that a session remembers.
    mutating func replay(
        _ record: BatchRecord,
        countMax: Int,
        messageBytesMax: Int
    ) throws(CodingFailure) {
        for id in record.forgotten { forget(id) }
        var revision = record.from
        for run in record.runs {
            if self[run.session] == nil {
                insert(run.session, Session(opened: run.opened, base: run.first))
            }
            guard let expected = self[run.session]?.expected, expected == run.first else {
                throw CodingFailure(
                    .malformed,
                    "session \(run.session) continues with number \(self[run.session]?.expected ?? run.first), "
                        + "the record has \(run.first)"
                )
            }
            update(run.session) { session in
                for entry in run.entries {
                    if entry.rejection == nil { revision = revision.next }
                    session.append(entry.rejection.map(Outcome.rejected) ?? .applied(revision), countMax: countMax)
                }
                session.durable = session.reduced
                session.dropMessages(bytesMax: messageBytesMax)
            }
        }
        // A change without actions, such as a migration, is one revision.
        guard revision == record.to || record.runs.isEmpty else {
            throw CodingFailure(.malformed, "the record ends at revision \(record.to), its actions lead to \(revision)")
        }
    }
}

/// The outcomes of the last numbers of a session: applied, or rejected with a code. The newest rejections also keep
/// their message.
struct OutcomeLog: Hashable, Sendable {
    private enum Entry: Hashable {
        case applied(Revision)
        case rejected(Rejection.Code)
    }

    private struct Message: Hashable {
        let number: ActionNumber
        let text: String
    }

    private var entries: [Entry] = []
    /// Ordered by number.
    private var messages: [Message] = []
    /// The size of all messages.
    private var messageBytes = 0
    /// The number after the newest entry.
    private(set) var end: ActionNumber

    /// Creates an empty log whose first entry is for `first`.
    init(first: ActionNumber) { end = first }

    /// The number of the oldest entry; equal to `end` in an empty log.
    var start: ActionNumber { ActionNumber(end.rawValue - UInt64(entries.count)) }

    /// Appends the outcome of the next number, and drops the oldest beyond `countMax`.
    mutating func append(_ outcome: Outcome, countMax: Int) {
        switch outcome {
        case .applied(let revision): entries.append(.applied(revision))
        case .rejected(let rejection):
            entries.append(.rejected(rejection.code))
            if !rejection.message.isEmpty {
                messages.append(Message(number: end, text: rejection.message))
                messageBytes += rejection.message.utf8.count
            }
        }
        end = end.next
        while entries.count > countMax {
            if let oldest = messages.first, oldest.number == start {
                messageBytes -= oldest.text.utf8.count
                messages.removeFirst()
            }
            entries.removeFirst()
        }
    }

    /// Drops the oldest messages of numbers up to `last` until all messages have at most `bytesMax` bytes. Keeps the
    /// outcomes and their codes.
    mutating func dropMessages(through last: ActionNumber, bytesMax: Int) {
        guard messageBytes > bytesMax else { return }
        var kept = messages[...]
        while messageBytes > bytesMax, let oldest = kept.first, oldest.number <= last {
            messageBytes -= oldest.text.utf8.count
            kept.removeFirst()
        }
        // Copy, to release the memory of the dropped ones.
        messages = Array(kept)
    }

    /// Drops the entries from `number` on, which were never durable.
    mutating func rewind(to number: ActionNumber) {
        while end > number, !entries.isEmpty {
            end = end.previous
            entries.removeLast()
        }
        while let last = messages.last, last.number >= end {
            messageBytes -= last.text.utf8.count
            messages.removeLast()
        }
    }

    /// The remembered outcomes of a range of numbers. A dropped message is empty.
    func outcomes(from first: ActionNumber, through last: ActionNumber) -> (first: ActionNumber, outcomes: [Outcome]) {
        let from = max(first, start)
        guard from <= last, from < end else { return (from, []) }
        let lower = from.distance(beyond: start)
        let upper = min(last.next, end).distance(beyond: start)
        var number = from
        var messages = messages.drop { $0.number < from }
        let outcomes = entries[lower..<upper].map { entry -> Outcome in
            defer { number = number.next }
            switch entry {
            case .applied(let revision): return .applied(revision)
            case .rejected(let code):
                guard messages.first?.number == number else { return .rejected(Rejection(code, "")) }
                return .rejected(Rejection(code, messages.removeFirst().text))
            }
        }
        return (from, outcomes)
    }
}

extension ListedSessionTable {
    /// Writes the durable state, the longest idle session first.
    func write(to writer: inout CBORWriter) {
        writer.array(count: 3)
        writer.write(horizon)
        own.write(to: &writer)
        // Include sessions without durable outcomes: their actions must not be applied again.
        let known = byUse
        writer.array(count: known.count)
        for (id, session) in known {
            writer.array(count: 2)
            writer.write(id)
            session.write(to: &writer)
        }
    }

    init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        self.init(
            horizon: try reader.quantity(),
            own: try Session(from: &reader),
            sessions: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return (id: try reader.session(), session: try Session(from: &reader))
            }
        )
    }
}

extension ListedSessionTable.Session {
    fileprivate func write(to writer: inout CBORWriter) {
        let (first, outcomes) = log.outcomes(from: log.start, through: durable)
        writer.array(count: 3)
        writer.write(opened)
        writer.write(first)
        writer.write(outcomes)
    }

    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        try reader.fixedArray(3)
        self.init(opened: try reader.quantity(), base: try reader.quantity())
        for outcome in try reader.outcomes() { append(outcome, countMax: .max) }
        durable = reduced
    }
}
