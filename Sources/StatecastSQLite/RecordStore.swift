import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// The SQLite database of a journal: its identity, epochs, records and first snapshot.
final class RecordStore: Sendable {
    /// How much one transaction deletes. Appends wait for it.
    private static let prunedBytesAtOnce = 1 << 20

    private let directory: JournalDirectory
    private let reader: Locked<SQLiteConnection?>
    /// Without a connection for a store that is only read.
    private let writer: Locked<SQLiteConnection?>
    /// `nil` for a store that is only read.
    private let checkpoints: Checkpoints?
    /// `nil` if each commit is durable, and for a store that is only read.
    private let logSync: LogSync?

    /// How long a transaction waits for those of other connections.
    private static let busyTimeout = Duration.seconds(10)

    var isReadOnly: Bool { checkpoints == nil }

    init(_ directory: JournalDirectory, _ durability: Durability) throws(JournalFailure) {
        self.directory = directory
        let settings = [
            // Has no effect on a database that exists.
            "PRAGMA page_size = \(JournalSchema.pageBytes)",
            "PRAGMA fullfsync = \(durability == .full ? 1 : 0)", "PRAGMA wal_autocheckpoint = 0",
        ]
        let path = directory.database
        try directory.makeDatabase()
        do {
            let writer = try SQLiteConnection(path, settings: settings, busyTimeout: Self.busyTimeout)
            try writer.useLog()
            try writer.execute("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
            try JournalSchema.checkVersion(writer, directory)
            try JournalSchema.create(writer)
            self.writer = Locked(writer)
            reader = Locked(try SQLiteConnection(path, isReadOnly: true, busyTimeout: Self.busyTimeout))
            checkpoints = try Checkpoints(directory, settings)
            logSync = durability == .full ? nil : LogSync(directory)
        } catch {
            throw directory.failure(error)
        }
    }

    enum VersionCheck { case strict, ignoringDamage }

    /// Opens a database for reading, which another process may be writing.
    ///
    /// Each function uses a short transaction: an open read transaction prevents the writer from checkpointing the log
    /// completely.
    ///
    /// - Parameter check: whether a damaged version is ignored. A later version is always refused.
    init(reading directory: JournalDirectory, _ check: VersionCheck = .strict) throws(JournalFailure) {
        self.directory = directory
        (writer, checkpoints, logSync) = (Locked(nil), nil, nil)
        try directory.checkFiles()
        do {
            let reader = try SQLiteConnection(directory.database, isReadOnly: true, busyTimeout: Self.busyTimeout)
            do { try reader.transaction(.reading) { try JournalSchema.checkVersion(reader, directory) } } catch {
                guard check == .ignoringDamage, (error as? JournalFailure)?.code != .newerFormat else { throw error }
            }
            self.reader = Locked(reader)
        } catch {
            throw directory.failure(error)
        }
    }

    /// Closes the reader last. It cannot remove the log and the shared memory, without which a journal on a read-only
    /// file system cannot be read.
    func close() {
        logSync?.close()
        checkpoints?.close()
        writer.close()
        reader.close()
    }

    // MARK: History

    func contents() throws(JournalFailure) -> JournalContents? {
        try reading { db in
            guard let identity = try JournalSchema.identity(db, directory) else { return nil }
            let last = try number(db, "SELECT max(sequence) FROM record")
            return JournalContents(
                identity: identity.identity,
                epochs: try JournalSchema.epochs(db, directory),
                last: last.map { JournalSequence($0) } ?? identity.first
            )
        }
    }

    /// `nil` before a history has begun.
    func identity() throws(JournalFailure) -> JournalIdentity? {
        try reading { db in try JournalSchema.identity(db, directory)?.identity }
    }

    func epochs() throws(JournalFailure) -> [EpochStart] {
        try reading { db in try JournalSchema.epochs(db, directory) }
    }

    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try writing { db in
            try JournalSchema.insert(identity, first: snapshot.entry.sequence, db)
            try JournalSchema.insert(origin: snapshot, db)
        }
        try checkpoints?.limitLog()
    }

    /// The snapshot at which the history begins; `nil` if it is pruned.
    func origin() throws(JournalFailure) -> JournalSnapshot? {
        try reading { db in try JournalSchema.origin(db, directory) }
    }

    func claim(_ epoch: EpochStart) throws(JournalFailure) {
        try writing { db in try JournalSchema.insert(epoch, db) }
    }

    // MARK: Records

    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        if let failure = checkpoints?.failure ?? logSync?.failure { throw failure }
        try writing { db in
            for record in records { try db.execute(JournalSchema.insertRecord, record.values) }
        }
        logSync?.appended()
        checkpoints?.appended(records.reduce(0) { $0 + $1.body.count + 64 })
        try checkpoints?.limitLog()
    }

    func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        try reading { db in
            var records: [JournalRecord] = []
            var bytes = 0
            var previous: (sequence: JournalSequence, revision: Revision?) = (sequence, nil)
            var row = try db.rows(JournalSchema.recordsAfter, Int64(clamping: sequence.rawValue))
            while try row.next() {
                let record: JournalRecord
                do {
                    record = try JournalRecord(row, after: previous.sequence, previous.revision, in: directory)
                } catch {
                    // Returns the records before the damage; the next call throws.
                    guard records.isEmpty else { break }
                    throw error
                }
                bytes += record.body.count
                if !records.isEmpty && bytes > maxBytes { break }
                records.append(record)
                previous = (record.sequence, record.to)
            }
            return records
        }
    }

    /// The records between two, newest first.
    func records(
        before sequence: JournalSequence,
        after oldest: JournalSequence,
        maxBytes: Int
    ) throws(JournalFailure) -> [JournalRecord] {
        try reading { db in
            var records: [JournalRecord] = []
            var (bytes, expected) = (0, sequence.previous)
            var row = try db.rows(
                JournalSchema.recordsBefore,
                Int64(clamping: sequence.rawValue),
                Int64(clamping: oldest.rawValue)
            )
            while expected > oldest {
                guard try row.next(), let record = JournalRecord(intact: row), record.sequence == expected else {
                    // Returns the records after the damage; the next call throws.
                    guard records.isEmpty else { break }
                    throw directory.damaged("record \(expected) is missing or has a wrong checksum")
                }
                bytes += record.body.count
                if !records.isEmpty && bytes > maxBytes { break }
                records.append(record)
                expected = record.sequence.previous
            }
            return records
        }
    }

    /// The record at which the journal began, with its first snapshot. `nil` before a history has begun.
    func first() throws(JournalFailure) -> JournalSequence? {
        try reading { db in try JournalSchema.identity(db, directory)?.first }
    }

    /// Snapshots whose following records still exist, oldest first. Includes the first snapshot even without its file.
    /// Excludes snapshots left by an interrupted prune.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] {
        var entries = try directory.snapshots()
        let origin = try reading { db in try JournalSchema.originEntry(db) }
        if let origin, !entries.contains(origin) {
            entries.insert(origin, at: entries.firstIndex { $0.sequence > origin.sequence } ?? entries.endIndex)
        }
        let first = try reading { db in try number(db, "SELECT min(sequence) FROM record") }
        guard let first else { return entries }
        return entries.filter { $0.sequence.next >= JournalSequence(first) }
    }

    /// The number of records, and the bytes of their bodies.
    func size() throws(JournalFailure) -> (count: Int, bytes: Int) {
        try reading { db in
            let count = try number(db, "SELECT count(*) FROM record") ?? 0
            let bytes = try number(db, "SELECT coalesce(sum(length(body)), 0) FROM record") ?? 0
            return (Int(clamping: count), Int(clamping: bytes))
        }
    }

    /// The last record that ends at or before `revision`; `nil` if no stored record begins at or before it. Binary
    /// search.
    func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try reading { db in
            guard let first = try number(db, "SELECT min(sequence) FROM record"), first > 0,
                let start = try number(db, "SELECT start FROM record WHERE sequence = ?", first),
                start <= revision.rawValue, var upper = try number(db, "SELECT max(sequence) FROM record")
            else { return nil }
            var lower = first - 1
            while lower < upper {
                let middle = lower + (upper - lower + 1) / 2
                let end = try number(db, "SELECT end FROM record WHERE sequence = ?", middle)
                if let end, end <= revision.rawValue { lower = middle } else { upper = middle - 1 }
            }
            return JournalSequence(lower)
        }
    }

    func bytes(after sequence: JournalSequence) throws(JournalFailure) -> Int {
        try reading { db in
            let bytes = try number(
                db,
                "SELECT coalesce(sum(length(body)), 0) FROM record WHERE sequence > ?",
                sequence.rawValue
            )
            return Int(clamping: bytes ?? 0)
        }
    }

    func prune(through sequence: JournalSequence) throws(JournalFailure) {
        // Delete the first snapshot before its records: a crash between the transactions must not leave it without
        // them.
        try writing { db in
            try db.execute("DELETE FROM origin WHERE sequence < ?", [.bits(sequence.rawValue)])
        }
        // In steps, so that appends are not blocked for long.
        while try pruneSome(through: sequence) > 0 {}
    }

    private func pruneSome(through sequence: JournalSequence) throws(JournalFailure) -> Int {
        try writing { db in
            var row = try db.rows(JournalSchema.oldest, Int64(clamping: sequence.rawValue))
            var (last, bytes) = (nil as UInt64?, 0)
            while bytes < Self.prunedBytesAtOnce, try row.next() {
                last = try row.bits(0)
                bytes += Int(clamping: try row.bits(1))
            }
            guard let last else { return 0 }
            try db.execute("DELETE FROM record WHERE sequence <= ?", [.bits(last)])
            return db.changeCount
        }
    }

    // MARK: End of the records

    /// Checks that all acknowledged records are there.
    ///
    /// - Parameter snapshot: the newest one: the records that led to it were acknowledged, too.
    /// - Returns: the first damaged record after the acknowledged ones.
    /// - Throws: ``JournalFailure`` with code `damaged`.
    func checkEnd(
        _ last: JournalSequence,
        acknowledged: SnapshotEntry,
        _ snapshot: SnapshotEntry
    ) throws(JournalFailure) -> JournalSequence? {
        guard last >= acknowledged.sequence else {
            let end = SnapshotEntry(sequence: last, revision: try revision(at: last) ?? Revision(0))
            throw directory.lacks(acknowledged, end: end)
        }
        guard last >= snapshot.sequence else {
            throw directory.damaged(
                "it ends with record \(last), and the snapshot of revision \(snapshot.revision) was created after "
                    + "record \(snapshot.sequence)"
            )
        }
        let known = max(acknowledged.sequence, snapshot.sequence)
        if try revision(at: known) == nil, snapshot.sequence != known {
            throw directory.damaged("record \(known), which was acknowledged, is missing")
        }
        guard let firstLost = try firstUnreadable(after: known) else { return nil }
        // A crash cannot damage a record and leave a later one intact.
        if let intact = try firstIntact(after: firstLost) {
            throw directory.damaged("record \(firstLost) cannot be read, and the later record \(intact) can")
        }
        return firstLost
    }

    func count(from sequence: JournalSequence) throws(JournalFailure) -> Int {
        try reading { db in
            Int(clamping: try number(db, "SELECT count(*) FROM record WHERE sequence >= ?", sequence.rawValue) ?? 0)
        }
    }

    func drop(from sequence: JournalSequence) throws(JournalFailure) {
        try writing { db in try db.execute("DELETE FROM record WHERE sequence >= ?", [.bits(sequence.rawValue)]) }
    }

    private func firstIntact(after sequence: JournalSequence) throws(JournalFailure) -> JournalSequence? {
        try reading { db in
            var row = try db.rows(JournalSchema.recordsAfter, Int64(clamping: sequence.rawValue))
            while try row.next() {
                if let record = JournalRecord(intact: row) { return record.sequence }
            }
            return nil
        }
    }

    private func firstUnreadable(after sequence: JournalSequence) throws(JournalFailure) -> JournalSequence? {
        var last = sequence
        while true {
            let records: [JournalRecord]
            do throws(JournalFailure) { records = try self.records(after: last, maxBytes: 1) } catch {
                guard error.code == .damaged else { throw error }
                return last.next
            }
            guard let record = records.last else { return nil }
            last = record.sequence
        }
    }

    /// The last record and the revision at which it ends; `nil` without records.
    func last() throws(JournalFailure) -> SnapshotEntry? {
        try reading { db in
            var row = try db.rows("SELECT sequence, end FROM record ORDER BY sequence DESC LIMIT 1")
            guard try row.next() else { return nil }
            return SnapshotEntry(sequence: JournalSequence(try row.bits(0)), revision: Revision(try row.bits(1)))
        }
    }

    /// The revision at which a record ends; `nil` if there is no such record.
    func revision(at sequence: JournalSequence) throws(JournalFailure) -> Revision? {
        try reading { db in
            try number(db, "SELECT end FROM record WHERE sequence = ?", sequence.rawValue).map { Revision($0) }
        }
    }

    // MARK: Log

    /// Starts a checkpoint in the background if one is due.
    func checkpointIfDue(_ marks: CommitMarkFile) { checkpoints?.startIfDue(marks) }

    /// Writes the log into the database; durable on return.
    func checkpoint() throws(JournalFailure) { try checkpoints?.run() }

    // MARK: Queries

    /// The number in the only row; `nil` without a row, or if it is null.
    private func number(_ db: SQLiteConnection, _ sql: String) throws -> UInt64? { try Self.number(db.rows(sql)) }

    private func number(_ db: SQLiteConnection, _ sql: String, _ argument: UInt64) throws -> UInt64? {
        try Self.number(db.rows(sql, Int64(bitPattern: argument)))
    }

    private static func number(_ rows: consuming SQLiteRows) throws -> UInt64? {
        guard try rows.next(), !rows.isNull(0) else { return nil }
        return try rows.bits(0)
    }

    private func reading<T>(_ body: (SQLiteConnection) throws -> T) throws(JournalFailure) -> T {
        try transaction(.reading, on: reader, body)
    }

    private func writing<T>(_ body: (SQLiteConnection) throws -> T) throws(JournalFailure) -> T {
        try transaction(.writing, on: writer, body)
    }

    private func transaction<T>(
        _ kind: SQLiteConnection.Transaction,
        on connection: Locked<SQLiteConnection?>,
        _ body: (SQLiteConnection) throws -> T
    ) throws(JournalFailure) -> T {
        do { return try connection.use { db in try db.transaction(kind) { try body(db) } } } catch {
            throw directory.failure(error)
        }
    }
}
