import StatecastCore
package import StatecastJournal
package import StatecastProtocol

/// The move of a store between a directory and a database, by `statecast-journal move`.
extension PostgresDatabase {
    private static let tables = ["record", "chunk", "snapshot", "epoch", "suspect", "standby", "leader", "store"]
    // A copy that was interrupted, or a store that is elsewhere, and was not written since it left.
    private static let isReplaceable = """
        EXISTS (SELECT FROM statecast.store s WHERE s.store = $1
            AND (s.moved IN ('from ' || $2, 'to ' || $2) OR s.moved LIKE 'moved to %')
          AND NOT EXISTS (SELECT FROM statecast.record r WHERE r.store = $1 AND r.sequence > $3))
        """
    private static let insertEpoch = "INSERT INTO statecast.epoch VALUES ($1, $2, $3, $4, $5, $6)"

    /// Copies the journal of another place. No node leads the store before ``release(_:)``.
    ///
    /// - Parameter place: where it comes from: shown in messages.
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
            guard try tablesExist(connection) else { return }
            for table in Self.tables {
                try connection.execute(
                    "DELETE FROM statecast.\(table) WHERE store = $1 AND \(Self.isReplaceable)",
                    [.text(store.text), .text(place), .bits(contents.last)],
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
}
