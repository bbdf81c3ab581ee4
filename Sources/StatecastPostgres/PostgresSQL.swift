/// Parts of statements.
enum PostgresSQL {
    /// Locks the row of the leader ($1 the store, $2 the term, $3 the claim) if this node leads.
    ///
    /// One statement has it and its write, not a transaction of several: a leader that is stopped between two would
    /// keep the row locked, and none could take over. `READ COMMITTED` checks the condition again after it has waited
    /// for a claim. A lock instead of a change leaves no dead row for each commit.
    static let fence = fence(and: "AND (NOT synchronous OR statecast.synchronous())")

    /// The same for a statement that need not wait for another server.
    static let asynchronousFence = fence(and: "")

    private static func fence(and condition: String) -> String {
        """
        WITH fence AS MATERIALIZED (SELECT store FROM statecast.leader
          WHERE store = $1 AND term = $2 AND holder = $3 AND timeline = statecast.timeline() \(condition)
          FOR NO KEY UPDATE)
        """
    }

    /// The last record of a store; of one without records, the one at which its history begins. Its names of tables are
    /// others than those of the statements.
    static func head(_ store: String) -> String {
        """
        coalesce((SELECT max(head_r.sequence) FROM statecast.record head_r WHERE head_r.store = \(store)),
          (SELECT head_s.first FROM statecast.store head_s WHERE head_s.store = \(store)))
        """
    }
}
