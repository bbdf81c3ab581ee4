internal import Dispatch
internal import Foundation
internal import GRDB
internal import Journal
internal import SyncProtocol
internal import Threading

/// The records of a journal, its identity and its epochs, in SQLite.
final class RecordStore: Sendable {
    /// Whoever appends waits while so much is deleted.
    private static let prunedBytesAtOnce = 1 << 20

    private let directory: JournalDirectory
    private let pool: DatabasePool
    /// A connection of its own for writing the log into the database, which appending does not wait for; none where nothing
    /// is written.
    private let checkpoints: Checkpoints?

    /// Whether it only looks.
    var isReadOnly: Bool { checkpoints == nil }

    init(_ directory: JournalDirectory, _ durability: Durability) throws(JournalFailure) {
        self.directory = directory
        var configuration = Configuration()
        configuration.label = "statecast.journal"
        configuration.busyMode = .timeout(10)
        configuration.prepareDatabase { db in
            try db.execute(sql: "PRAGMA fullfsync = \(durability == .full ? 1 : 0)")
            try db.execute(sql: "PRAGMA wal_autocheckpoint = 0")
        }
        try directory.makeDatabase()
        do {
            pool = try DatabasePool(path: directory.database, configuration: configuration)
            // Not earlier: a pool makes it NORMAL once it is prepared, and then no commit waits for the disk.
            try pool.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
            }
            try pool.read { db in try JournalSchema.checkVersion(db, directory) }
            try JournalSchema.migrator.migrate(pool)
            checkpoints = try Checkpoints(directory, configuration)
        } catch {
            throw directory.failure(error)
        }
    }

    /// Looks at a journal that somebody else may be writing, and changes nothing.
    ///
    /// Each function reads for a moment and then lets go: what is being read, the writer cannot take out of its log.
    ///
    /// - Parameter isSalvaged: whether a damaged version is ignored. A later one never is.
    init(reading directory: JournalDirectory, isSalvaged: Bool = false) throws(JournalFailure) {
        self.directory = directory
        checkpoints = nil
        var configuration = Configuration()
        configuration.label = "statecast.journal.reader"
        configuration.readonly = true
        configuration.busyMode = .timeout(10)
        try directory.checkFiles()
        do {
            pool = try DatabasePool(path: directory.database, configuration: configuration)
            do { try pool.read { db in try JournalSchema.checkVersion(db, directory) } } catch {
                guard isSalvaged, (error as? JournalFailure)?.code != .newerFormat else { throw error }
            }
        } catch {
            throw directory.failure(error)
        }
    }

    func close() {
        checkpoints?.close()
        try? pool.close()
    }

    // MARK: What it is about

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

    /// Which history it is; `nil` before it is begun.
    func identity() throws(JournalFailure) -> JournalIdentity? {
        try reading { db in try JournalSchema.identity(db, directory)?.identity }
    }

    /// The incarnations of the primary, oldest first.
    func epochs() throws(JournalFailure) -> [EpochStart] {
        try reading { db in try JournalSchema.epochs(db, directory) }
    }

    /// Notes which history it is, and where it begins.
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try writing { db in
            try JournalSchema.insert(identity, first: snapshot.entry.sequence, db)
            try JournalSchema.insert(origin: snapshot, db)
        }
        try checkpoints?.limitLog()
    }

    /// The snapshot at which the history begins; `nil` if it is pruned.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`.
    func origin() throws(JournalFailure) -> JournalSnapshot? {
        try reading { db in try JournalSchema.origin(db, directory) }
    }

    func claim(_ epoch: EpochStart) throws(JournalFailure) {
        try writing { db in try JournalSchema.insert(epoch, db) }
    }

    // MARK: Records

    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        if let failure = checkpoints?.failure { throw failure }
        try writing { db in
            let statement = try db.cachedStatement(sql: JournalSchema.insertRecord)
            for record in records { try statement.execute(arguments: record.arguments) }
        }
        // A commit writes whole pages: at least one that holds the records, and some that lead there.
        checkpoints?.appended(records.reduce(2 << 12) { $0 + $1.body.count + 64 })
        try checkpoints?.limitLog()
    }

    func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        try reading { db in
            var records: [JournalRecord] = []
            var bytes = 0
            var previous: (sequence: JournalSequence, revision: Revision?) = (sequence, nil)
            let rows = try Row.fetchCursor(
                db,
                sql: JournalSchema.recordsAfter,
                arguments: [Int64(clamping: sequence.rawValue)]
            )
            while let row = try rows.next() {
                let record: JournalRecord
                do {
                    record = try JournalRecord(row, behind: previous.sequence, previous.revision, in: directory)
                } catch {
                    // What stands before it is whole; whoever asks for more is told.
                    guard records.isEmpty else { break }
                    throw error
                }
                bytes += record.body.count
                if !records.isEmpty && bytes > bytesMax { break }
                records.append(record)
                previous = (record.sequence, record.to)
            }
            return records
        }
    }

    /// The oldest record.
    func first() throws(JournalFailure) -> JournalSequence? {
        try reading { db in try number(db, "SELECT min(sequence) FROM record").map { JournalSequence($0) } }
    }

    /// The snapshots that lead to the end, oldest first, the first one also if its file is missing. Pruning takes records
    /// first: a snapshot whose records are gone, as when that was cut off, leads nowhere.
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] {
        var entries = try directory.snapshots()
        let origin = try reading { db in try JournalSchema.originEntry(db) }
        if let origin, !entries.contains(origin) {
            entries.insert(origin, at: entries.firstIndex { $0.sequence > origin.sequence } ?? entries.endIndex)
        }
        guard let first = try first() else { return entries }
        return entries.filter { $0.sequence.next >= first }
    }

    /// How many records there are, and the bytes of their bodies.
    func size() throws(JournalFailure) -> (count: Int, bytes: Int) {
        try reading { db in
            let count = try number(db, "SELECT count(*) FROM record") ?? 0
            let bytes = try number(db, "SELECT coalesce(sum(length(body)), 0) FROM record") ?? 0
            return (Int(clamping: count), Int(clamping: bytes))
        }
    }

    /// By halving: revisions rise with the sequences.
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
        // First: without its records the origin leads nowhere, and a kill may come between the transactions.
        try writing { db in
            try db.execute(
                sql: "DELETE FROM origin WHERE sequence < ?",
                arguments: [Int64(bitPattern: sequence.rawValue)]
            )
        }
        // A few at a time, so that appends run in between.
        while try pruneSome(through: sequence) > 0 {}
    }

    private func pruneSome(through sequence: JournalSequence) throws(JournalFailure) -> Int {
        try writing { db in
            let rows = try Row.fetchCursor(
                db,
                sql: JournalSchema.oldest,
                arguments: [Int64(clamping: sequence.rawValue)]
            )
            var (last, bytes) = (nil as UInt64?, 0)
            while bytes < Self.prunedBytesAtOnce, let row = try rows.next() {
                last = try row.bits(0)
                bytes += Int(clamping: try row.bits(1))
            }
            guard let last else { return 0 }
            try db.execute(sql: "DELETE FROM record WHERE sequence <= ?", arguments: [Int64(bitPattern: last)])
            return db.changesCount
        }
    }

    // MARK: The end of the log

    /// Compares what is there with what was acknowledged.
    ///
    /// - Parameter snapshot: the newest one: what led to it was acknowledged, too.
    /// - Returns: the first record that is not whole; nobody knows of it.
    /// - Throws: ``JournalFailure`` with code `damaged` if not all is there that was acknowledged.
    func checkEnd(
        _ last: JournalSequence,
        acknowledged mark: MarkPage.Mark,
        _ snapshot: SnapshotEntry
    ) throws(JournalFailure) -> JournalSequence? {
        guard last >= mark.sequence else {
            throw directory.damaged(
                "it ends at revision \(try revision(at: last) ?? Revision(0)) (record \(last)), and what was acknowledged at "
                    + "revision \(mark.revision) (record \(mark.sequence))"
            )
        }
        guard last >= snapshot.sequence else {
            throw directory.damaged(
                "it ends with record \(last), and the snapshot of revision \(snapshot.revision) was taken behind record "
                    + "\(snapshot.sequence)"
            )
        }
        let known = max(mark.sequence, snapshot.sequence)
        if try revision(at: known) == nil, snapshot.sequence != known {
            throw directory.damaged("record \(known), which was acknowledged, is missing")
        }
        guard let firstLost = try firstUnreadable(after: known) else { return nil }
        // A crash leaves nothing readable behind what it cut off.
        if let whole = try firstWhole(after: firstLost) {
            throw directory.damaged("record \(firstLost) cannot be read, and record \(whole) behind it can")
        }
        return firstLost
    }

    func count(from sequence: JournalSequence) throws(JournalFailure) -> Int {
        try reading { db in
            Int(clamping: try number(db, "SELECT count(*) FROM record WHERE sequence >= ?", sequence.rawValue) ?? 0)
        }
    }

    /// Removes what was never acknowledged.
    func drop(from sequence: JournalSequence) throws(JournalFailure) {
        try writing { db in
            try db.execute(
                sql: "DELETE FROM record WHERE sequence >= ?",
                arguments: [Int64(bitPattern: sequence.rawValue)]
            )
        }
    }

    private func firstWhole(after sequence: JournalSequence) throws(JournalFailure) -> JournalSequence? {
        try reading { db in
            let rows = try Row.fetchCursor(
                db,
                sql: JournalSchema.recordsAfter,
                arguments: [Int64(clamping: sequence.rawValue)]
            )
            while let row = try rows.next() {
                if let whole = JournalRecord(whole: row) { return whole.sequence }
            }
            return nil
        }
    }

    private func firstUnreadable(after sequence: JournalSequence) throws(JournalFailure) -> JournalSequence? {
        var last = sequence
        while true {
            let records: [JournalRecord]
            do throws(JournalFailure) { records = try self.records(after: last, bytesMax: 1) } catch {
                guard error.code == .damaged else { throw error }
                return last.next
            }
            guard let record = records.last else { return nil }
            last = record.sequence
        }
    }

    /// Where a record ends; `nil` if there is none.
    func revision(at sequence: JournalSequence) throws(JournalFailure) -> Revision? {
        try reading { db in
            try number(db, "SELECT end FROM record WHERE sequence = ?", sequence.rawValue).map { Revision($0) }
        }
    }

    // MARK: The log

    /// Starts a checkpoint in the background if one is due. It writes the part of the log that no reader needs.
    func checkpointIfDue(_ marks: MarkPage) { checkpoints?.startIfDue(marks) }

    /// Writes the log into the database, and waits until the disk has it.
    func checkpoint() throws(JournalFailure) {
        try checkpoints?.run()
    }

    /// One number; `nil` if there is none.
    private func number(_ db: Database, _ sql: String, _ argument: UInt64? = nil) throws -> UInt64? {
        let arguments = StatementArguments(argument.map { [Int64(bitPattern: $0)] } ?? [])
        guard let row = try Row.fetchOne(db, sql: sql, arguments: arguments),
            (row[0] as DatabaseValue).isNull == false
        else { return nil }
        return try row.bits(0)
    }

    private func reading<T>(_ body: (Database) throws -> T) throws(JournalFailure) -> T {
        do { return try pool.read(body) } catch { throw directory.failure(error) }
    }

    private func writing<T>(_ body: (Database) throws -> T) throws(JournalFailure) -> T {
        do { return try pool.write(body) } catch { throw directory.failure(error) }
    }
}
