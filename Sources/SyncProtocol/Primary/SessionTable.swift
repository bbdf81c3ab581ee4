/// What a store knows of its senders: for each session how far it is, and what became of its last actions.
///
/// Bounded: to admit one more session the one that was idle longest is forgotten. A forgotten session must never be
/// taken for a new one, or its resent actions would be applied twice; so the table remembers one number for all that it
/// forgot, the horizon: a session that it does not have is new only if it was opened at or behind it.
struct SessionTable: Hashable, Sendable {
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
    }

    private var sessions: [SessionID: Session] = [:]
    /// The primary's own session: always known, never forgotten, and not counted.
    private(set) var own = Session(opened: JournalSequence(0), base: ActionNumber(1))
    private var uses: UInt64 = 0
    /// Sessions opened below it may have been known once.
    private(set) var horizon = JournalSequence(0)

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
            horizon = max(horizon, longest.value.opened.next)
            sessions[longest.key] = nil
        }
        uses += 1
        sessions[id] = session
        sessions[id]?.used = uses
        return true
    }
}
