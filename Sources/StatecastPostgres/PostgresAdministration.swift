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

    private func create(
        _ identity: JournalIdentity,
        first: JournalSequence,
        moved place: String?
    ) throws(JournalFailure) {
        let store = PostgresValue.text(identity.store.text)
        let count = try perform(.snapshots) { connection throws(PostgresFailure) in
            try createTables(connection)
            let values = [store, .integer(PostgresSchema.format)] + identity.values(first: first)
            let moved = place.map { PostgresValue.text($0) } ?? .noText
            let count = try connection.execute(Self.insertStore, values + [moved]).writtenCount
            try connection.execute(Self.insertLeader, [store, .bits(first)])
            return count
        }
        guard count == 1 else {
            throw JournalFailure(.misfit, "the database \(description) has a store \"\(identity.store)\" already")
        }
    }

    /// Not again where they are: a change of a table would wait for readers, and commits for it.
    private func createTables(_ connection: PostgresConnection) throws(PostgresFailure) {
        let exists = try connection.execute("SELECT to_regclass('statecast.store') IS NOT NULL")
            .map { column throws(PostgresFailure) in try column(0).boolean() }
        guard exists.first != true else { return }
        for sql in PostgresSchema.statements { try connection.execute(sql) }
    }

    // MARK: Status

    private static let names = "SELECT store, moved IS NOT NULL FROM statecast.store ORDER BY store"
    private static let standbysOf = """
        SELECT holder, head, (extract(epoch FROM now() - seen) * 1000)::bigint FROM statecast.standby
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
        guard let first = try contents(of: identity.store, by: nil)?.first else { return }
        let values = [.text(identity.store.text)] + identity.values(first: first) + [.boolean(isForced)]
        guard try change(Self.acceptLoss, values) == 1 else {
            throw JournalFailure(
                .misfit,
                "the store \"\(identity.store)\" has lost nothing: its nodes go on by themselves, also after a "
                    + "promotion while commits waited for the other server"
            )
        }
    }

    // MARK: Moving

    private static let tables = ["record", "chunk", "snapshot", "epoch", "suspect", "standby", "leader", "store"]
    // A copy that was interrupted, or a store that is elsewhere, and was not written since it left.
    private static let isReplaceable = """
        EXISTS (SELECT FROM statecast.store s WHERE s.store = $1 AND (s.moved = $2 OR s.moved LIKE 'moved to %')
          AND NOT EXISTS (SELECT FROM statecast.record r WHERE r.store = $1 AND r.sequence > $3))
        """
    private static let insertEpoch = "INSERT INTO statecast.epoch VALUES ($1, $2, $3, $4, $5, $6)"

    /// Copies the journal of another place. No node leads the store before ``release(_:)``.
    ///
    /// - Parameter place: where it comes from, for people.
    /// - Throws: ``JournalFailure`` with code `misfit` if the store exists. A copy that was interrupted is replaced,
    ///   and so is a store that was moved away.
    package func copy(
        _ contents: JournalContents,
        from source: any JournalReading,
        at place: String
    ) throws(JournalFailure) {
        let store = contents.identity.store
        let snapshots = try source.snapshots()
        guard let oldest = snapshots.first else { throw JournalFailure(.damaged, "\(place) has no snapshot") }
        try perform(.snapshots) { connection throws(PostgresFailure) in
            try createTables(connection)
            for table in Self.tables {
                try connection.execute(
                    "DELETE FROM statecast.\(table) WHERE store = $1 AND \(Self.isReplaceable)",
                    [.text(store.text), .text("from \(place)"), .bits(contents.last)],
                    more: .seconds(60)
                )
            }
        }
        try create(contents.identity, first: oldest.sequence, moved: "from \(place)")
        let journal = try claim(contents)
        try perform(.snapshots) { connection throws(PostgresFailure) in
            for epoch in contents.epochs {
                let numbers = [epoch.epoch.rawValue, epoch.revision.rawValue, epoch.stateVersion]
                let values = numbers.map(PostgresValue.bits) + [.integer(epoch.time.milliseconds)]
                let row = [.text(store.text)] + values + [.integer(epoch.checksum)]
                try connection.execute(Self.insertEpoch, row)
            }
        }
        var last = oldest.sequence
        while last < contents.last {
            let records = try source.records(after: last, maxBytes: 1 << 20)
            guard let end = records.last else { break }
            try append(records, to: journal)
            var copied: [JournalRecord] = []
            while copied.count < records.count {
                let page = try journal.records(after: copied.last?.sequence ?? last, maxBytes: .max)
                guard !page.isEmpty else { break }
                copied += page
            }
            guard copied == records else {
                throw damaged("a record after \(last) is another one than at \(place)")
            }
            last = end.sequence
        }
        guard last == contents.last else {
            throw JournalFailure(.damaged, "\(place) ends at record \(last), before record \(contents.last)")
        }
        for entry in snapshots {
            let snapshot = try source.snapshot(entry)
            try journal.store(snapshot, as: .regular)
            guard try self.snapshot(entry, of: store) == snapshot else {
                throw damaged("the snapshot of revision \(entry.revision) is another one than at \(place)")
            }
        }
    }

    /// Repeats a commit whose outcome is unknown.
    private func append(_ records: [JournalRecord], to journal: SharedJournal) throws(JournalFailure) {
        for attempt in 1... {
            do throws(JournalFailure) { return try journal.append(records) } catch {
                guard error.code == .unknown, attempt < 20 else { throw error }
            }
        }
    }

    /// Claims a store to write it as its leader would.
    private func claim(_ contents: JournalContents) throws(JournalFailure) -> SharedJournal {
        let store = contents.identity.store
        var generator = SystemRandomNumberGenerator()
        let seen = try leaders(of: [store])
        let claim = LeaderClaim(
            holder: NodeID(using: &generator),
            node: NodeID(using: &generator),
            seen: seen,
            endpoint: "statecast-journal"
        )
        guard let terms = try self.claim([store], above: [contents.epochs.last?.epoch ?? Epoch(0)], claim) else {
            throw JournalFailure(.fenced, "another process moves the store \"\(store)\"")
        }
        let journal = SharedJournal(self, store: store, crashMarker: CrashMarker())
        let fence = Fence(term: terms[0], holder: claim.holder)
        journal.claimed(fence, isSynchronous: seen[0].isSynchronous, after: seen[0].head)
        return journal
    }

    private static let release = """
        WITH released AS (
          UPDATE statecast.store SET moved = NULL WHERE store = $1 AND moved IS NOT NULL RETURNING store)
        UPDATE statecast.leader l SET beat = beat + 1, settled = \(PostgresSQL.head("$1")), resigned = true,
          holder = NULL, heir = NULL, endpoint = NULL
        FROM released WHERE l.store = released.store
        """
    private static let withhold = """
        WITH withheld AS (UPDATE statecast.store SET moved = 'to ' || $2
          WHERE store = $1 AND (moved IS NULL OR moved = 'to ' || $2) RETURNING store)
        UPDATE statecast.leader l SET term = term + 1, beat = beat + 1, resigned = false, holder = NULL, heir = NULL
        FROM withheld WHERE l.store = withheld.store
        """

    /// Nodes lead a store that was copied from now on.
    package func release(_ store: StoreName) throws(JournalFailure) {
        try change(Self.release, [.text(store.text)])
    }

    /// No node leads a store any more, and none can write it.
    ///
    /// - Parameter place: where it is moved to.
    /// - Returns: its content.
    /// - Throws: ``JournalFailure`` with code `misfit` if it was moved to another place before.
    package func withhold(_ store: StoreName, for place: String) throws(JournalFailure) -> JournalContents {
        let count = try change(Self.withhold, [.text(store.text), .text(place)])
        let contents = try contents(of: store, by: nil, isMoved: count == 1)
        guard let contents else { throw absent(store) }
        return contents.contents
    }

    private static let finish =
        "UPDATE statecast.store SET moved = 'moved to ' || $2 WHERE store = $1 AND moved = 'to ' || $2"

    /// A store that was withheld is at its other place.
    package func finishMove(_ store: StoreName, to place: String) throws(JournalFailure) {
        try change(Self.finish, [.text(store.text), .text(place)])
    }

    @discardableResult
    private func change(_ sql: String, _ values: [PostgresValue]) throws(JournalFailure) -> Int {
        try perform(.snapshots) { connection throws(PostgresFailure) in
            let result = try connection.execute(sql, values)
            if let warning = result.warning { throw PostgresFailure(.other, warning) }
            return result.writtenCount
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
