internal import Foundation
internal import GRDB
internal import Journal
internal import StateCore
internal import SyncProtocol

/// The tables of a journal, and how its versions lead from one to the next. Each row carries a checksum.
enum JournalSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(
                sql: """
                    CREATE TABLE identity (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        store TEXT NOT NULL, lineage INTEGER NOT NULL, begun INTEGER NOT NULL, first INTEGER NOT NULL,
                        checksum INTEGER NOT NULL
                    );
                    CREATE TABLE epoch (
                        epoch INTEGER PRIMARY KEY,
                        revision INTEGER NOT NULL, fingerprint INTEGER NOT NULL, time INTEGER NOT NULL,
                        checksum INTEGER NOT NULL
                    );
                    CREATE TABLE record (
                        sequence INTEGER PRIMARY KEY,
                        start INTEGER NOT NULL, end INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
                    );
                    """
            )
        }
        migrator.registerMigration("2") { db in
            try db.execute(
                sql: """
                    CREATE TABLE origin (
                        id INTEGER PRIMARY KEY CHECK (id = 1),
                        sequence INTEGER NOT NULL, revision INTEGER NOT NULL, content INTEGER NOT NULL,
                        checksum INTEGER NOT NULL, context BLOB NOT NULL, state BLOB NOT NULL
                    );
                    """
            )
        }
        return migrator
    }

    /// Refuses a journal of a later version. A later version adds migrations and omits none: where one is missing, an
    /// unknown name is a damaged one.
    static func checkVersion(_ db: Database, _ directory: JournalDirectory) throws {
        guard try migrator.hasBeenSuperseded(db) else { return }
        guard try !migrator.hasCompletedMigrations(db) else { throw directory.newerFormat }
        throw directory.damaged("journal.sqlite names a version that does not exist")
    }

    // MARK: Identity

    static func insert(_ identity: JournalIdentity, first: JournalSequence, _ db: Database) throws {
        let numbers = [identity.lineage.bits, UInt64(bitPattern: identity.begun.milliseconds), first.rawValue]
        try db.execute(
            sql: "INSERT INTO identity VALUES (1, ?, ?, ?, ?, ?)",
            arguments: [
                identity.store.text, numbers[0].bits, numbers[1].bits, numbers[2].bits,
                checksum(numbers, Array(identity.store.text.utf8)),
            ]
        )
    }

    static func identity(
        _ db: Database,
        _ directory: JournalDirectory
    ) throws -> (identity: JournalIdentity, first: JournalSequence)? {
        // Whoever ended while making the tables has not begun anything.
        guard try db.tableExists("identity"),
            let row = try Row.fetchOne(db, sql: "SELECT store, lineage, begun, first, checksum FROM identity")
        else { return nil }
        let numbers = try (1...3).map { try row.bits($0) }
        guard let text = row.text(0), try row.bits(4).bits == checksum(numbers, Array(text.utf8)),
            let store = try? StoreName(text)
        else {
            throw directory.damaged("the row that says which history it is cannot be trusted: its checksum is wrong")
        }
        let identity = JournalIdentity(
            store: store,
            lineage: Lineage(bits: numbers[0]),
            begun: Timestamp(milliseconds: Int64(bitPattern: numbers[1]))
        )
        return (identity, JournalSequence(numbers[2]))
    }

    // MARK: The first snapshot

    /// A larger first snapshot has no copy in the database: SQLite takes at most 1,000,000,000 bytes in a row.
    static let originBytesMax = 256 << 20

    /// Keeps the snapshot at which the history begins: no record can be replayed without it, and its file may be lost.
    static func insert(origin snapshot: JournalSnapshot, bytesMax: Int = originBytesMax, _ db: Database) throws {
        guard snapshot.context.count + snapshot.state.count <= bytesMax else { return }
        let numbers = [
            snapshot.entry.sequence.rawValue, snapshot.entry.revision.rawValue, contentChecksum(of: snapshot),
        ]
        try db.execute(
            sql: "INSERT INTO origin VALUES (1, ?, ?, ?, ?, ?, ?)",
            arguments: StatementArguments(numbers.map(\.bits) + [checksum(numbers)])
                + [Data(snapshot.context), Data(snapshot.state)]
        )
    }

    /// Which snapshot it is, without reading it; `nil` if there is none, or if the row cannot be trusted.
    static func originEntry(_ db: Database) throws -> SnapshotEntry? {
        // A journal of the first version has no such table, and a reader does not create one.
        guard try db.tableExists("origin"),
            let row = try Row.fetchOne(db, sql: "SELECT sequence, revision, content, checksum FROM origin")
        else { return nil }
        return try? originEntry(row)
    }

    static func origin(_ db: Database, _ directory: JournalDirectory) throws -> JournalSnapshot? {
        guard try db.tableExists("origin"),
            let row = try Row.fetchOne(
                db,
                sql: "SELECT sequence, revision, content, checksum, context, state FROM origin"
            )
        else { return nil }
        guard let entry = try? originEntry(row), let context = row.blob(4), let state = row.blob(5),
            case let snapshot = JournalSnapshot(entry, context: context, state: state),
            try row.bits(2) == contentChecksum(of: snapshot)
        else {
            throw directory.damaged("the copy of the first snapshot in journal.sqlite has a wrong checksum")
        }
        return snapshot
    }

    /// - Throws: `SQLITE_CORRUPT` if its checksum is wrong.
    private static func originEntry(_ row: Row) throws -> SnapshotEntry {
        let numbers = try (0...2).map { try row.bits($0) }
        guard try row.bits(3).bits == checksum(numbers) else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return SnapshotEntry(sequence: JournalSequence(numbers[0]), revision: Revision(numbers[1]))
    }

    private static func contentChecksum(of snapshot: JournalSnapshot) -> UInt64 {
        var checksum = Checksum()
        checksum.combine(UInt64(snapshot.context.count))
        checksum.combine(snapshot.context)
        checksum.combine(snapshot.state)
        return UInt64(checksum.value)
    }

    // MARK: Epochs

    static func insert(_ epoch: EpochStart, _ db: Database) throws {
        let numbers = [
            epoch.epoch.rawValue, epoch.revision.rawValue, epoch.fingerprint,
            UInt64(bitPattern: epoch.time.milliseconds),
        ]
        let arguments = numbers.map(\.bits) + [checksum(numbers)]
        try db.execute(sql: "INSERT INTO epoch VALUES (?, ?, ?, ?, ?)", arguments: StatementArguments(arguments))
    }

    static func epochs(_ db: Database, _ directory: JournalDirectory) throws -> [EpochStart] {
        try Row.fetchAll(db, sql: "SELECT epoch, revision, fingerprint, time, checksum FROM epoch ORDER BY epoch")
            .map { row in
                let numbers = try (0...3).map { try row.bits($0) }
                guard try row.bits(4).bits == checksum(numbers) else {
                    throw directory.damaged("the row of epoch \(numbers[0]) cannot be trusted: its checksum is wrong")
                }
                return EpochStart(
                    epoch: Epoch(numbers[0]),
                    revision: Revision(numbers[1]),
                    fingerprint: numbers[2],
                    time: Timestamp(milliseconds: Int64(bitPattern: numbers[3]))
                )
            }
    }

    // MARK: Records

    static let insertRecord = "INSERT INTO record VALUES (?, ?, ?, ?, ?)"
    static let recordsAfter =
        "SELECT sequence, start, end, checksum, body FROM record WHERE sequence > ? ORDER BY sequence"

    static let oldest = "SELECT sequence, length(body) FROM record WHERE sequence <= ? ORDER BY sequence"

    static func checksum(_ numbers: [UInt64], _ bytes: [UInt8] = []) -> Int64 {
        var checksum = Checksum()
        for number in numbers { checksum.combine(number) }
        checksum.combine(bytes)
        return Int64(checksum.value)
    }
}

extension UInt64 {
    /// As SQLite keeps it: its integers have a sign.
    fileprivate var bits: Int64 { Int64(bitPattern: self) }
}

extension Row {
    // Not by the subscripts that convert: these trap where a damaged row holds something else than its column should.

    /// - Throws: `SQLITE_CORRUPT` if there is something else than an integer.
    func bits(_ index: Int) throws -> UInt64 {
        guard case .int64(let number) = (self[index] as DatabaseValue).storage else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row holds something else than a number")
        }
        return UInt64(bitPattern: number)
    }

    fileprivate func text(_ index: Int) -> String? {
        guard case .string(let text) = (self[index] as DatabaseValue).storage else { return nil }
        return text
    }

    fileprivate func blob(_ index: Int) -> [UInt8]? {
        guard case .blob(let data) = (self[index] as DatabaseValue).storage else { return nil }
        return [UInt8](data)
    }
}

extension JournalRecord {
    private var numbers: [UInt64] { [sequence.rawValue, from.rawValue, to.rawValue] }

    var arguments: StatementArguments {
        StatementArguments(numbers.map(\.bits) + [checksum]) + [Data(body)]
    }

    /// `nil` for a row that is not as it was written.
    init?(whole row: Row) {
        guard let record = try? JournalRecord(unchecked: row), (try? row.bits(3).bits) == record.checksum else {
            return nil
        }
        self = record
    }

    private init(unchecked row: Row) throws {
        self.init(
            sequence: JournalSequence(try row.bits(0)),
            from: Revision(try row.bits(1)),
            to: Revision(try row.bits(2)),
            body: row.blob(4) ?? []
        )
    }

    /// What its row says beside it.
    var checksum: Int64 { JournalSchema.checksum(numbers, body) }

    /// Reads a row, and checks that it is whole and stands where it must.
    init(
        _ row: Row,
        behind sequence: JournalSequence,
        _ revision: Revision?,
        in directory: JournalDirectory
    ) throws {
        try self.init(unchecked: row)
        let at = "from revision \((revision ?? from).next) on"
        guard self.sequence == sequence.next else {
            throw directory.damaged("\(at): record \(sequence.next) is missing")
        }
        guard try row.bits(3).bits == checksum else {
            throw directory.damaged("\(at): record \(self.sequence) has a wrong checksum")
        }
        guard revision == nil || revision == from else {
            throw directory.damaged("\(at): record \(self.sequence) begins at revision \(from)")
        }
    }
}

extension JournalDirectory {
    var newerFormat: JournalFailure {
        JournalFailure(
            .newerFormat,
            "the journal \(path) was written by a later version of statecast: use that one or a later one"
        )
    }

    /// What SQLite says, as a failure of the journal.
    func failure(_ error: any Error) -> JournalFailure {
        switch error {
        case let failure as JournalFailure: return failure
        case let error as DatabaseError:
            let message = error.message ?? "no message"
            switch error.resultCode {
            case .SQLITE_FULL:
                return JournalFailure(.storageFull, "there is no room for the journal \(path): \(message)")
            case .SQLITE_CORRUPT, .SQLITE_NOTADB: return damaged("SQLite cannot read journal.sqlite: \(message)")
            // All statements are fixed: if SQLite rejects one, the tables are not as they were made. What GRDB itself reports
            // with this code has no statement.
            case .SQLITE_ERROR where error.sql != nil:
                return damaged("SQLite cannot read journal.sqlite: \(message)")
            default:
                return JournalFailure(
                    .inputOutput,
                    "the journal \(path): \(message) (SQLite \(error.extendedResultCode))"
                )
            }
        case is RowDecodingError: return damaged("SQLite cannot read journal.sqlite: \(error)")
        default: return JournalFailure(.inputOutput, "the journal \(path): \(error)")
        }
    }
}
