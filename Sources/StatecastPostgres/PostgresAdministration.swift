import StatecastCore
package import StatecastJournal
package import StatecastProtocol

/// What operators do with the stores of a database.
extension PostgresDatabase {
    // MARK: Creating

    private static let insertStore =
        "INSERT INTO statecast.store VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT DO NOTHING"
    /// The store has no leader, so the first node claims it at once.
    private static let insertLeader = """
        INSERT INTO statecast.leader VALUES ($1, 0, 0, $2, statecast.timeline(), statecast.synchronous(), true)
        ON CONFLICT DO NOTHING
        """

    /// Creates the tables unless they exist, and a store without content: its first leader begins the history.
    ///
    /// - Throws: ``JournalFailure`` with code `misfit` if the store exists.
    package func create(_ identity: JournalIdentity) throws(JournalFailure) {
        try create(identity, first: JournalSequence(0), moved: nil)
    }

    func create(
        _ identity: JournalIdentity,
        first: JournalSequence,
        moved place: String?
    ) throws(JournalFailure) {
        let store = PostgresValue.text(identity.store.text)
        let count = try perform(.snapshots) { connection throws(PostgresFailure) in
            // All or nothing: the command may be interrupted.
            try connection.execute("BEGIN")
            do throws(PostgresFailure) {
                try createTables(connection)
                let values = [store, .integer(PostgresSchema.format)] + identity.values(first: first)
                let moved = place.map { PostgresValue.text($0) } ?? .nullText
                let count = try connection.execute(Self.insertStore, values + [moved]).writtenCount
                try connection.execute(Self.insertLeader, [store, .bits(first)])
                try connection.execute("COMMIT")
                return count
            } catch {
                _ = try? connection.execute("ROLLBACK")
                throw error
            }
        }
        guard count == 1 else {
            throw JournalFailure(.misfit, "the database \(description) has a store \"\(identity.store)\" already")
        }
    }

    /// Not again where they are: a change of a table would wait for readers, and commits for it.
    private func createTables(_ connection: PostgresConnection) throws(PostgresFailure) {
        guard try !tablesExist(connection) else { return }
        for sql in PostgresSchema.statements { try connection.execute(sql) }
    }

    func tablesExist(_ connection: PostgresConnection) throws(PostgresFailure) -> Bool {
        try connection.execute("SELECT to_regclass('statecast.store') IS NOT NULL")
            .map { column throws(PostgresFailure) in try column(0).boolean() }.first == true
    }

    // MARK: Status

    private static let names = "SELECT store, moved IS NOT NULL FROM statecast.store ORDER BY store"
    private static let standbysOf = """
        SELECT node, head, (extract(epoch FROM now() - seen) * 1000)::bigint FROM statecast.standby
        WHERE store = $1 AND seen > now() - interval '1 minute' ORDER BY head DESC
        """

    /// The names of all stores, and whether each was moved to another place, or is being moved.
    package func stores() throws(JournalFailure) -> [(name: StoreName, isMoved: Bool)] {
        let rows = try rows(.reading, Self.names, []) { column throws(PostgresFailure) in
            (name: try column(0).text(), isMoved: try column(1).boolean())
        }
        do { return try rows.map { (try StoreName($0.name), $0.isMoved) } } catch {
            throw damaged("a store has no valid name: \(error)")
        }
    }

    /// A node that has noted in the last minute that it stands by.
    package struct Standby: Sendable {
        package let node: NodeID
        /// The last record that it has.
        package let head: JournalSequence
        /// Since its last note.
        package let age: Duration
    }

    package func standbys(of store: StoreName) throws(JournalFailure) -> [Standby] {
        try rows(.reading, Self.standbysOf, [.text(store.text)]) { column throws(PostgresFailure) in
            Standby(
                node: try column(0).identity(),
                head: JournalSequence(try column(1).bits()),
                age: .milliseconds(try column(2).integer())
            )
        }
    }

    // MARK: Promotions

    // Both rows in one statement. Other servers of the database have other timelines.
    private static let acceptLoss = """
        WITH lost AS (
          UPDATE statecast.store s SET lineage = $2, begun = $3, checksum = $5 FROM statecast.leader l
          WHERE s.store = $1 AND l.store = $1 AND s.first = $4
            AND ($6 OR NOT l.synchronous AND l.timeline <> statecast.timeline())
          RETURNING s.store)
        UPDATE statecast.leader l SET term = term + 1, beat = beat + 1, timeline = statecast.timeline(),
          synchronous = statecast.synchronous(), settled = \(PostgresSQL.head("$1")), resigned = true, holder = NULL,
          heir = NULL, endpoint = NULL
        FROM lost WHERE l.store = lost.store
        """

    /// Continues a store on a promoted server that may lack acknowledged records, in a new lineage.
    ///
    /// - Parameter isForced: also if the database does not know that something is lost.
    /// - Throws: ``JournalFailure`` with code `misfit` if nothing is lost.
    package func acceptLoss(_ identity: JournalIdentity, isForced: Bool) throws(JournalFailure) {
        guard let first = try contents(of: identity.store, by: nil)?.first else {
            throw absent(identity.store)
        }
        let values = [.text(identity.store.text)] + identity.values(first: first) + [.boolean(isForced)]
        guard try change(Self.acceptLoss, values) == 1 else {
            throw JournalFailure(
                .misfit,
                "the store \"\(identity.store)\" has lost nothing: its nodes go on by themselves, also after a "
                    + "promotion while commits waited for the other server"
            )
        }
    }

    /// Executes a statement that may be repeated: its connection may have been idle during a copy, and be lost.
    @discardableResult
    func change(_ sql: String, _ values: [PostgresValue]) throws(JournalFailure) -> Int {
        func once() throws(JournalFailure) -> Int {
            try perform(.snapshots) { connection throws(PostgresFailure) in
                let result = try connection.execute(sql, values)
                if let warning = result.warning { throw PostgresFailure(warning) }
                return result.writtenCount
            }
        }
        do throws(JournalFailure) { return try once() } catch {
            guard error.code == .inputOutput else { throw error }
            return try once()
        }
    }
}

extension JournalIdentity {
    /// Lineage, begin, first record and checksum.
    fileprivate func values(first: JournalSequence) -> [PostgresValue] {
        let numbers = [lineage.bits, UInt64(bitPattern: begun.milliseconds), first.rawValue]
        return numbers.map(PostgresValue.bits) + [.integer(Int64(Checksum.of(numbers, Array(store.text.utf8))))]
    }
}
