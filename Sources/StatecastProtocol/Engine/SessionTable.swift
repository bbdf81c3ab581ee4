package import StatecastCoding
import StatecastCore

/// The sessions of a store: for each sender the last number and the last outcomes.
///
/// The table is bounded: to admit a session it evicts the least recently used one (LRU). An evicted session must never
/// be mistaken for a new one, or its resent actions would be applied twice. The table therefore keeps one number for
/// all evicted sessions, the minimum opening: an unknown session is new only if it was opened at or after it.
package struct SessionTable: Hashable, Sendable {
    /// The state of one session.
    struct Session: Hashable, Sendable {
        /// The journal sequence at which the session was opened, or which its sender has adopted since: an incarnation
        /// that had evicted the session may have ended before that was durable.
        private(set) var opened: JournalSequence
        /// The outcomes of the last reduced numbers; those beyond `durable` may not be durable yet.
        private(set) var outcomes: OutcomeRuns
        /// The last number whose outcome is durable.
        private(set) var durable: ActionNumber
        /// The user whose actions are the session's; `nil` until an authenticated user sends one.
        fileprivate(set) var user: String?
        /// The time of the last use, as a count of uses in the table.
        fileprivate(set) var used: UInt64 = 0

        init(opened: JournalSequence, base: ActionNumber) {
            self.init(opened: opened, durable: OutcomeRuns(first: base))
        }

        fileprivate init(opened: JournalSequence, durable outcomes: OutcomeRuns, user: String? = nil) {
            self.opened = opened
            self.user = user
            self.outcomes = outcomes
            durable = outcomes.end.previous
        }

        /// The last reduced number.
        var reduced: ActionNumber { outcomes.end.previous }
        /// The next number of the session.
        var expected: ActionNumber { outcomes.end }
        /// The number of actions whose outcomes are not durable yet.
        var undurableCount: Int { reduced.distance(beyond: durable) }

        /// Whether the session may be evicted.
        var isIdle: Bool { undurableCount == 0 }

        /// The remembered durable outcomes of a range of numbers.
        func durableOutcomes(from first: ActionNumber, through last: ActionNumber) -> OutcomeRuns {
            outcomes.slice(from: first, through: min(last, durable))
        }

        /// Records the outcomes of the next numbers, and forgets the oldest durable ones beyond `maxCount`.
        ///
        /// - Parameter opened: as the frame of the actions stated it.
        mutating func append(contentsOf others: OutcomeRuns, opened: JournalSequence, maxCount: Int) {
            self.opened = max(self.opened, opened)
            outcomes.append(contentsOf: others)
            trim(maxCount: maxCount)
        }

        /// Records durable outcomes of the next numbers, and forgets the oldest ones beyond `maxCount`.
        fileprivate mutating func append(durable others: OutcomeRuns, opened: JournalSequence, maxCount: Int) {
            self.opened = max(self.opened, opened)
            outcomes.append(contentsOf: others)
            durable = reduced
            trim(maxCount: maxCount)
        }

        private mutating func trim(maxCount: Int) {
            let excess = outcomes.count - maxCount
            if excess > 0 { forgetOutcomes(before: outcomes.start.advanced(by: excess)) }
        }

        /// Forgets the durable outcomes of lower numbers.
        mutating func forgetOutcomes(before number: ActionNumber) {
            outcomes.removeOutcomes(before: min(durable.next, number))
        }

        /// The outcomes up to a number are durable.
        mutating func markDurable(through last: ActionNumber) {
            precondition(last <= reduced, "number \(last) is durable, the last reduced one is \(reduced)")
            durable = last
        }

        /// Drops the messages of the oldest durable rejections until at most `maxBytes` bytes are left.
        mutating func dropMessages(maxBytes: Int) { outcomes.dropMessages(through: durable, maxBytes: maxBytes) }

        /// Rolls back the numbers from `number` on, which are not durable.
        mutating func rollBack(to number: ActionNumber) {
            precondition(number > durable, "number \(number) is durable already")
            outcomes.removeOutcomes(from: number)
        }

        /// Rolls back to the last durable number.
        mutating func rollBack() { rollBack(to: durable.next) }
    }

    private var sessions: [SessionID: Session] = [:]
    /// The primary's own session: always known, never evicted, not counted.
    private(set) var own = Session(opened: JournalSequence(0), base: ActionNumber(1))
    private var uses: UInt64 = 0
    /// The number of runs of outcomes of all senders' sessions.
    private(set) var runCount = 0
    /// Sessions that were opened below it may have been evicted.
    private(set) var minOpening = JournalSequence(0)
    /// The sessions that were evicted since the last record.
    private var forgotten: [SessionID] = []

    init() {}

    /// Restores a table; `sessions` is in LRU order.
    init(minOpening: JournalSequence, own: Session, sessions: [(id: SessionID, session: Session)]) {
        self.minOpening = minOpening
        self.own = own
        for (id, session) in sessions { insert(id, session) }
    }

    /// The largest number of actions of a session that are not durable yet.
    var maxUndurableCount: Int { sessions.values.lazy.map(\.undurableCount).max() ?? 0 }

    /// The number of senders.
    var count: Int { sessions.count }

    subscript(id: SessionID) -> Session? { id == .primary ? own : sessions[id] }

    /// Changes a known session in place, and updates its last use.
    mutating func update(_ id: SessionID, _ change: (inout Session) -> Void) {
        guard id != .primary else { return change(&own) }
        guard let index = sessions.index(forKey: id) else { preconditionFailure("session \(id) is not in the table") }
        uses += 1
        sessions.values[index].used = uses
        runCount -= sessions.values[index].outcomes.runCount
        change(&sessions.values[index])
        runCount += sessions.values[index].outcomes.runCount
    }

    /// Assigns a session without a user to `user`.
    mutating func claim(_ id: SessionID, for user: String) {
        guard let index = sessions.index(forKey: id), sessions.values[index].user == nil else { return }
        sessions.values[index].user = user
    }

    /// Admits a session, and evicts the least recently used one if there is no room.
    ///
    /// - Returns: `false` if all sessions have uncommitted actions, so that none can be evicted.
    mutating func open(_ id: SessionID, _ session: Session, maxCount: Int) -> Bool {
        while sessions.count >= maxCount {
            guard evictLongestIdle(where: { _ in true }) else { return false }
        }
        insert(id, session)
        return true
    }

    /// Evicts the least recently used sessions of a user until it may have another one. Those of other users stay.
    ///
    /// - Returns: `false` if all of them have uncommitted actions.
    mutating func makeRoom(for user: String, maxCount: Int) -> Bool {
        let own = sessions.values.filter { $0.user == user }
        let excess = own.count - maxCount + 1
        guard excess <= own.count(where: \.isIdle) else { return false }
        for _ in 0..<max(0, excess) { _ = evictLongestIdle { $0.user == user } }
        return true
    }

    /// Evicts idle sessions with at least `minRuns` runs of outcomes, in LRU order, while all sessions
    /// have more than `maxRuns`.
    mutating func evict(minRuns: Int, maxRuns: Int) {
        while runCount > maxRuns, evictLongestIdle(where: { $0.outcomes.runCount >= minRuns }) {}
    }

    /// The number of runs of outcomes of each user's sessions.
    var runCounts: [String: Int] {
        sessions.values.reduce(into: [:]) { counts, session in
            if let user = session.user { counts[user, default: 0] += session.outcomes.runCount }
        }
    }

    /// Evicts idle sessions with at least `minRuns` runs of outcomes, in LRU order, of each user whose
    /// sessions have more than `maxRuns`.
    mutating func evictOfUsers(minRuns: Int, maxRuns: Int) {
        guard runCount > maxRuns else { return }
        for (user, count) in runCounts where count > maxRuns {
            let limit = runCount - (count - maxRuns)
            while runCount > limit,
                evictLongestIdle(where: { $0.user == user && $0.outcomes.runCount >= minRuns })
            {}
        }
    }

    private mutating func evictLongestIdle(where isCandidate: (Session) -> Bool) -> Bool {
        var longest: (key: SessionID, used: UInt64)?
        for (id, session) in sessions where session.isIdle {
            if session.used < longest?.used ?? .max, isCandidate(session) { longest = (id, session.used) }
        }
        guard let longest else { return false }
        forget(longest.key)
        forgotten.append(longest.key)
        return true
    }

    private mutating func insert(_ id: SessionID, _ session: Session) {
        uses += 1
        sessions[id] = session
        sessions[id]?.used = uses
        runCount += session.outcomes.runCount
    }

    /// Returns the sessions that were evicted since the last call.
    mutating func drainForgotten() -> [SessionID] {
        defer { forgotten = [] }
        return forgotten
    }

    /// The sessions of senders, in LRU order.
    var byUse: [(id: SessionID, session: Session)] {
        sessions.sorted { $0.value.used < $1.value.used }.map { (id: $0.key, session: $0.value) }
    }

    private mutating func forget(_ id: SessionID) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        runCount -= session.outcomes.runCount
        minOpening = max(minOpening, session.opened.next)
    }

    /// Rolls back all sessions to their last durable numbers. Sessions that were evicted stay evicted; the primary
    /// refuses them as unknown.
    ///
    /// - Parameter forgotten: the evicted sessions of the records that were rolled back, which the next record has to
    ///   list.
    mutating func rollBack(forgetting forgotten: [SessionID]) {
        self.forgotten = forgotten + self.forgotten
        own.rollBack()
        for index in sessions.values.indices { sessions.values[index].rollBack() }
        runCount = sessions.values.reduce(0) { $0 + $1.outcomes.runCount }
    }

    /// Whether this table of a snapshot is consistent with a table that was replayed from records:
    /// - common sessions have the same durable number,
    /// - sessions only in the replayed table were evicted,
    /// - sessions only in this table remember no durable outcome.
    ///
    /// A session with a later `opened` in this table may have been evicted and opened again, and is another one then.
    /// Or its sender adopted that sequence, which is not recorded yet.
    package func agrees(with replayed: SessionTable) -> Bool {
        own.durable == replayed.own.durable
            && sessions.allSatisfy { id, session in
                let remembersNothing = session.outcomes.start > session.durable
                guard let other = replayed.sessions[id] else { return remembersNothing }
                let isAnother = other.opened < session.opened && other.opened < minOpening
                return other.durable == session.durable || isAnother && remembersNothing
            }
            && replayed.sessions.allSatisfy { id, session in
                sessions[id].map { $0.opened >= session.opened } ?? false || session.opened < minOpening
            }
    }

    /// Applies the outcomes of a record.
    ///
    /// - Parameters:
    ///     - maxCount: the number of outcomes that a session remembers.
    ///     - maxMessageBytes: the size of the rejection messages that a session remembers.
    package mutating func replay(
        _ record: BatchRecord,
        maxCount: Int,
        maxMessageBytes: Int
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
            let outcomes = try run.outcomes(after: revision)
            revision = revision.advanced(by: run.appliedCount)
            if let user = run.user { claim(run.session, for: user) }
            update(run.session) { session in
                session.append(durable: outcomes, opened: run.opened, maxCount: maxCount)
                session.dropMessages(maxBytes: maxMessageBytes)
            }
        }
        // A change without actions, such as a migration, is one revision.
        guard revision == record.to || record.runs.isEmpty else {
            throw CodingFailure(.malformed, "the record ends at revision \(record.to), its actions lead to \(revision)")
        }
    }
}

extension SessionTable {
    /// Writes the durable state, the sessions in LRU order.
    func write(to writer: inout CBORWriter) {
        writer.array(count: 3)
        writer.write(minOpening)
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
            minOpening: try reader.quantity(),
            own: try Session(from: &reader),
            sessions: try reader.list { reader throws(CodingFailure) in
                try reader.fixedArray(2)
                return (id: try reader.session(), session: try Session(from: &reader))
            }
        )
    }
}

extension SessionTable.Session {
    fileprivate func write(to writer: inout CBORWriter) {
        let known = durableOutcomes(from: outcomes.start, through: durable)
        writer.array(count: user == nil ? 3 : 4)
        writer.write(opened)
        writer.write(known.start)
        known.write(to: &writer)
        if let user { writer.text(user) }
    }

    fileprivate init(from reader: inout CBORReader) throws(CodingFailure) {
        let count = try reader.arrayCount(atLeast: 3)
        let opened: JournalSequence = try reader.quantity()
        let first: ActionNumber = try reader.quantity()
        // The writer's limit on the number of outcomes may have been any.
        let outcomes = try OutcomeRuns(from: &reader, first: first, maxRuns: .max)
        let user =
            count > 3 ? try reader.optional { reader throws(CodingFailure) in try reader.text() } : nil
        self.init(opened: opened, durable: outcomes, user: user)
        for _ in min(4, count)..<count { try reader.skip() }
    }
}

extension BatchRecord.Run {
    /// The outcomes of the run, whose first applied action leads to the revision after `revision`.
    ///
    /// - Throws: ``CodingFailure`` if a number is out of range.
    fileprivate func outcomes(after revision: Revision) throws(CodingFailure) -> OutcomeRuns {
        guard !first.rawValue.addingReportingOverflow(UInt64(entries.count)).overflow else {
            throw CodingFailure(.malformed, "\(entries.count) actions from number \(first) on are out of range")
        }
        var outcomes = OutcomeRuns(first: first)
        var revision = revision
        for entry in entries {
            if entry.rejection == nil { revision = revision.next }
            outcomes.append(entry.rejection.map(Outcome.rejected) ?? .applied(revision))
        }
        return outcomes
    }

    fileprivate var appliedCount: Int { entries.count { $0.rejection == nil } }
}
