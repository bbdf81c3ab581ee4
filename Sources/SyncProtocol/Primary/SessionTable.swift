package import StateCoding

/// What a store knows of its senders: for each session how far it is, and what became of its last actions.
///
/// Bounded: to admit one more session the one that was idle longest is forgotten. A forgotten session must never be
/// taken for a new one, or its resent actions would be applied twice; so the table remembers one number for all that it
/// forgot, the horizon: a session that it does not have is new only if it was opened at or behind it.
package struct SessionTable: Hashable, Sendable {
    /// One sender's place.
    struct Session: Hashable, Sendable {
        /// The journal sequence at which it was opened.
        let opened: JournalSequence
        /// The last number taken; its outcome may not be durable yet.
        var taken: ActionNumber
        /// The last number whose outcome is durable.
        var durable: ActionNumber
        /// What became of the last numbers taken.
        var log: OutcomeLog
        /// When it was last used, as a count of uses in the table.
        fileprivate(set) var used: UInt64 = 0

        init(opened: JournalSequence, base: ActionNumber) {
            self.opened = opened
            taken = base.previous
            durable = base.previous
            log = OutcomeLog(first: base)
        }

        /// The number that has to come next.
        var expected: ActionNumber { taken.next }

        /// Notes the outcome of the next number.
        mutating func append(_ outcome: Outcome, countMax: Int) {
            taken = taken.next
            log.append(outcome, countMax: countMax)
        }

        /// Forgets the oldest messages of durable rejections until at most `bytesMax` bytes are left.
        mutating func forgetMessages(bytesMax: Int) { log.forgetMessages(through: durable, bytesMax: bytesMax) }

        /// Forgets all that was not made durable.
        mutating func rewind() {
            log.rewind(to: durable.next)
            taken = durable
        }
    }

    private var sessions: [SessionID: Session] = [:]
    /// The primary's own session: always known, never forgotten, and not counted.
    private(set) var own = Session(opened: JournalSequence(0), base: ActionNumber(1))
    private var uses: UInt64 = 0
    /// Sessions opened below it may have been known once.
    private(set) var horizon = JournalSequence(0)
    /// Those forgotten since a record last said so.
    private var forgotten: [SessionID] = []

    /// A table that knows nobody.
    init() {}

    /// What another table knew; the session that was idle longest first.
    init(horizon: JournalSequence, own: Session, sessions: [(id: SessionID, session: Session)]) {
        self.horizon = horizon
        self.own = own
        for (id, session) in sessions { insert(id, session) }
    }

    /// How many senders are known.
    var count: Int { sessions.count }

    subscript(id: SessionID) -> Session? { id == .primary ? own : sessions[id] }

    /// Changes a session in place, and notes that it was used.
    mutating func update(_ id: SessionID, _ change: (inout Session) -> Void) {
        guard id != .primary else { return change(&own) }
        uses += 1
        guard let index = sessions.index(forKey: id) else { return }
        change(&sessions.values[index])
        sessions.values[index].used = uses
    }

    /// Admits a session, forgetting the longest idle one if there is no room.
    ///
    /// - Returns: `false` if every session has actions under way, so that none can be forgotten.
    mutating func open(_ id: SessionID, _ session: Session, countMax: Int) -> Bool {
        while sessions.count >= countMax {
            let idle = sessions.lazy.filter { $0.value.taken == $0.value.durable }
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

    /// Those forgotten since this was called last.
    mutating func takeForgotten() -> [SessionID] {
        defer { forgotten = [] }
        return forgotten
    }

    /// The sessions of senders, the one that was idle longest first.
    var byUse: [(id: SessionID, session: Session)] {
        sessions.sorted { $0.value.used < $1.value.used }.map { (id: $0.key, session: $0.value) }
    }

    // MARK: History

    private mutating func forget(_ id: SessionID) {
        guard let session = sessions.removeValue(forKey: id) else { return }
        horizon = max(horizon, session.opened.next)
    }

    /// Forgets all that was not made durable: it is as if it had never come. Sessions that made room for others stay
    /// forgotten, which is as well: they are told that they are not known.
    ///
    /// - Parameter forgotten: what was taken of those, and did not come to be durable either.
    mutating func rewind(forgetting forgotten: [SessionID]) {
        self.forgotten = forgotten + self.forgotten
        own.rewind()
        for index in sessions.values.indices { sessions.values[index].rewind() }
    }

    /// Whether a snapshot may have this table where following the records leads to another one: the same sessions are as
    /// far, those that are not in the snapshot were forgotten, and those that are in it alone had sent nothing that was
    /// durable.
    package func agrees(with replayed: SessionTable) -> Bool {
        own.durable == replayed.own.durable
            && sessions.allSatisfy { id, session in
                replayed.sessions[id].map { $0.opened == session.opened && $0.durable == session.durable }
                    ?? (session.log.start > session.durable)
            }
            && replayed.sessions.allSatisfy { id, session in sessions[id] != nil || session.opened < horizon }
    }

    /// Follows what a record says became of actions.
    ///
    /// - Parameters:
    ///   - countMax: how many outcomes a session remembers.
    ///   - messageBytesMax: how many bytes of messages of rejections a session remembers.
    package mutating func replay(
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
                    "session \(run.session) should go on with number \(self[run.session]?.expected ?? run.first), the record has \(run.first)"
                )
            }
            update(run.session) { session in
                for entry in run.entries {
                    if entry.rejection == nil { revision = revision.next }
                    session.append(entry.rejection.map(Outcome.rejected) ?? .applied(revision), countMax: countMax)
                }
                session.durable = session.taken
                session.forgetMessages(bytesMax: messageBytesMax)
            }
        }
        // A change without actions, such as a migration, is one revision, too.
        guard revision == record.to || record.runs.isEmpty else {
            throw CodingFailure(
                .malformed,
                "the record ends at revision \(record.to), its actions lead to \(revision)"
            )
        }
    }
}
