import StatecastCore
package import StatecastJournal
package import StatecastProtocol

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The snapshots of stores, in chunks: a value of PostgreSQL has at most 1 GiB, and a statement holds it several times.
extension PostgresDatabase {
    private static let chunkBytes = 1 << 20
    /// Of chunks or records in one statement, so that its locks and its part of the write-ahead log stay bounded.
    private static let maxRemovedBytes = 32 << 20
    /// Between two chunks, so that commits go on.
    private static let chunkPauseMicroseconds: UInt32 = 20_000

    // MARK: Reading

    private static let snapshotsOf =
        "SELECT sequence, revision FROM statecast.snapshot WHERE store = $1 ORDER BY sequence"

    package func snapshots(of store: StoreName) throws(JournalFailure) -> [SnapshotEntry] {
        try rows(.reading, Self.snapshotsOf, [.text(store.text)]) { column throws(PostgresFailure) in
            SnapshotEntry(sequence: JournalSequence(try column(0).bits()), revision: Revision(try column(1).bits()))
        }
    }

    private static let snapshotAt = """
        SELECT chunks, checksum, context FROM statecast.snapshot WHERE store = $1 AND sequence = $2
        """
    private static let chunk =
        "SELECT body FROM statecast.chunk WHERE store = $1 AND sequence = $2 AND index = $3"

    package func snapshot(_ entry: SnapshotEntry, of store: StoreName) throws(JournalFailure) -> JournalSnapshot {
        let place: [PostgresValue] = [.text(store.text), .bits(entry.sequence)]
        let heads = try rows(.reading, Self.snapshotAt, place) { column throws(PostgresFailure) in
            (count: try column(0).integer(), checksum: try column(1).integer(), context: try column(2).byteArray())
        }
        let pruned = JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
        guard let head = heads.first else { throw pruned }
        var state: [UInt8] = []
        for index in 0..<max(0, head.count) {
            let chunks = try rows(.reading, Self.chunk, place + [.integer(index)]) { column throws(PostgresFailure) in
                try column(0).byteArray()
            }
            guard let chunk = chunks.first else { throw pruned }
            state += chunk
        }
        let snapshot = JournalSnapshot(entry, context: head.context, state: state)
        guard snapshot.checksum == head.checksum else {
            throw damaged("the snapshot of revision \(entry.revision) of the store \"\(store)\" has a wrong checksum")
        }
        return snapshot
    }

    // MARK: Writing

    // All statements name the claim: a node that no longer leads must not touch the snapshots of its successor.
    private static let removeChunks = """
        \(PostgresSQL.asynchronousFence)
        DELETE FROM statecast.chunk c USING fence f WHERE c.store = f.store AND sequence = $4 AND index IN (
          SELECT index FROM statecast.chunk WHERE store = $1 AND sequence = $4 LIMIT \(maxRemovedBytes / chunkBytes))
        """
    private static let removeSnapshot = """
        \(PostgresSQL.asynchronousFence)
        DELETE FROM statecast.snapshot USING fence WHERE snapshot.store = $1 AND sequence = $4
        """
    private static let insertChunk =
        "\(PostgresSQL.asynchronousFence) INSERT INTO statecast.chunk SELECT f.store, $4, $5, $6 FROM fence f"
    private static let insertSnapshot =
        "\(PostgresSQL.fence) INSERT INTO statecast.snapshot SELECT f.store, $4, $5, $6, $7, $8, $9 FROM fence f"
    private static let interimBefore =
        "SELECT sequence FROM statecast.snapshot WHERE store = $1 AND interim AND sequence < $2"

    package func store(
        _ snapshot: JournalSnapshot,
        as kind: SnapshotKind,
        of store: StoreName,
        by fence: Fence
    ) throws(JournalFailure) {
        let chunks = stride(from: 0, to: snapshot.state.count, by: Self.chunkBytes).map {
            Array(snapshot.state[$0..<min($0 + Self.chunkBytes, snapshot.state.count)])
        }
        let otherLeads = PostgresFailure("another node leads the store \"\(store)\"")
        try write { connection throws(PostgresFailure) in
            let place = fenced(store, fence) + [.bits(snapshot.entry.sequence)]
            // The last statement waits for the other server, and its place in the log covers the ones before it.
            try connection.execute("SET synchronous_commit = off")
            try remove(place, connection)
            for (index, chunk) in chunks.enumerated() {
                if index > 0 { usleep(Self.chunkPauseMicroseconds) }
                let parameters = place + [.integer(Int64(index)), .bytes(chunk)]
                guard try connection.execute(Self.insertChunk, parameters).writtenCount == 1 else { throw otherLeads }
            }
            try connection.execute("RESET synchronous_commit")
            let head: [PostgresValue] = [
                .bits(snapshot.entry.revision), .boolean(kind == .interim), .integer(Int64(chunks.count)),
                .integer(snapshot.checksum), .bytes(snapshot.context),
            ]
            let result = try connection.execute(Self.insertSnapshot, place + head)
            if let warning = result.warning { throw PostgresFailure(warning) }
            guard result.writtenCount == 1 else { throw otherLeads }
            let old = try connection.execute(Self.interimBefore, [.text(store.text), .bits(snapshot.entry.sequence)])
                .map { column throws(PostgresFailure) in try column(0).bits() }
            for sequence in old { try remove(fenced(store, fence) + [.bits(sequence)], connection) }
        }
    }

    private func remove(_ place: [PostgresValue], _ connection: PostgresConnection) throws(PostgresFailure) {
        try connection.execute(Self.removeSnapshot, place)
        while try connection.execute(Self.removeChunks, place).writtenCount > 0 {}
    }

    // The last record always stays: its number is the head, which the conditions of all commits compare.
    private static let pruneRecords = """
        \(PostgresSQL.fence)
        DELETE FROM statecast.record r USING fence f WHERE r.store = f.store AND r.sequence IN (
          SELECT sequence FROM (SELECT sequence, sum(bytes) OVER (ORDER BY sequence) - bytes AS before FROM (
            SELECT sequence, bytes FROM statecast.record
            WHERE store = $1 AND sequence <= $4
              AND sequence < (SELECT max(sequence) FROM statecast.record WHERE store = $1)
            ORDER BY sequence LIMIT 1000) p) q
          WHERE before < \(maxRemovedBytes))
        """

    package func prune(_ store: StoreName, keeping historyBytes: Int, by fence: Fence) throws(JournalFailure) {
        var entries = try snapshots(of: store)
        while entries.count > 2, try recordBytes(of: store, after: entries[1].sequence) >= historyBytes {
            try write { [entries] connection throws(PostgresFailure) in
                // The snapshot first: without its records it would be useless.
                try remove(fenced(store, fence) + [.bits(entries[0].sequence)], connection)
                let start = fenced(store, fence) + [.bits(entries[1].sequence)]
                while try connection.execute(Self.pruneRecords, start).writtenCount > 0 {}
            }
            entries.removeFirst()
        }
    }

    private static let bytesAfter =
        "SELECT coalesce(sum(bytes), 0)::bigint FROM statecast.record WHERE store = $1 AND sequence > $2"

    private func recordBytes(of store: StoreName, after sequence: JournalSequence) throws(JournalFailure) -> Int {
        // It reads all kept rows, which takes longer than other statements if the disk is slow.
        try perform(.snapshots) { connection throws(PostgresFailure) in
            try connection.execute(Self.bytesAfter, [.text(store.text), .bits(sequence)], more: .seconds(50))
                .map { column throws(PostgresFailure) in Int(try column(0).integer()) }.first ?? 0
        }
    }

    private func write(
        _ body: (PostgresConnection) throws(PostgresFailure) -> Void
    ) throws(JournalFailure) {
        try perform(.snapshots) { connection throws(PostgresFailure) in
            defer { _ = try? connection.execute("RESET synchronous_commit") }
            try body(connection)
        }
    }
}

extension JournalSnapshot {
    var checksum: Int64 {
        var checksum = Checksum()
        for number in [entry.sequence.rawValue, entry.revision.rawValue, UInt64(context.count)] {
            checksum.combine(number)
        }
        checksum.combine(context)
        checksum.combine(state)
        return Int64(checksum.value)
    }
}
