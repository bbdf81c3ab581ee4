import Foundation
import GRDB
import StatecastCore
import StatecastJournal
import StatecastProtocol

/// The tables of a journal and their migrations. Each row carries a checksum.
enum JournalSchema {
    /// The page size of a new database; it stays that with which the database was created. The cost of a commit depends
    /// on the number of its pages: with these, 1 MiB of records costs a quarter of the writes that 4 KiB pages need.
    static let pageBytes = 16 << 10

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

    /// Refuses a journal of a later version, which adds migrations and omits none. If a known migration is missing, the
    /// table is damaged, not newer.
    static func checkVersion(_ db: Database, _ directory: JournalDirectory) throws {
        guard try migrator.hasBeenSuperseded(db) else { return }
        guard try !migrator.hasCompletedMigrations(db) else { throw directory.newerFormat }
        throw directory.damaged("journal.sqlite has an unknown version")
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
        // A process that ended while creating the tables has not begun a history.
        guard try db.tableExists("identity"),
            let row = try Row.fetchOne(db, sql: "SELECT store, lineage, begun, first, checksum FROM identity")
        else { return nil }
        let numbers = try (1...3).map { try row.bits($0) }
        guard let text = row.text(0), try row.bits(4).bits == checksum(numbers, Array(text.utf8)),
            let store = try? StoreName(text)
        else {
            throw directory.damaged("the row of the identity has a wrong checksum")
        }
        let identity = JournalIdentity(
            store: store,
            lineage: Lineage(bits: numbers[0]),
            begun: Timestamp(milliseconds: Int64(bitPattern: numbers[1]))
        )
        return (identity, JournalSequence(numbers[2]))
    }

    // MARK: First snapshot

    /// A larger first snapshot has no copy in the database: SQLite allows at most 1,000,000,000 bytes in a row.
    static let maxOriginBytes = 256 << 20

    /// Stores a copy of the snapshot at which the history begins: without it no record can be replayed, and its file
    /// may be lost.
    static func insert(origin snapshot: JournalSnapshot, maxBytes: Int = maxOriginBytes, _ db: Database) throws {
        guard snapshot.context.count + snapshot.state.count <= maxBytes else { return }
        let numbers = [
            snapshot.entry.sequence.rawValue, snapshot.entry.revision.rawValue, contentChecksum(of: snapshot),
        ]
        try db.execute(
            sql: "INSERT INTO origin VALUES (1, ?, ?, ?, ?, ?, ?)",
            arguments: StatementArguments(numbers.map(\.bits) + [checksum(numbers)])
                + [Data(snapshot.context), Data(snapshot.state)]
        )
    }

    /// The entry of the first snapshot without its content; `nil` if there is no copy, or if its row is damaged.
    static func originEntry(_ db: Database) throws -> SnapshotEntry? {
        guard let row = try Row.fetchOne(db, sql: "SELECT sequence, revision, content, checksum FROM origin") else {
            return nil
        }
        return try? originEntry(row)
    }

    static func origin(_ db: Database, _ directory: JournalDirectory) throws -> JournalSnapshot? {
        let sql = "SELECT sequence, revision, content, checksum, context, state FROM origin"
        guard let row = try Row.fetchOne(db, sql: sql) else { return nil }
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
        UInt64(Checksum.of([UInt64(snapshot.context.count)], snapshot.context + snapshot.state))
    }

    // MARK: Epochs

    static func insert(_ epoch: EpochStart, _ db: Database) throws {
        let numbers = [
            epoch.epoch.rawValue, epoch.revision.rawValue, epoch.stateVersion,
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
                    throw directory.damaged("the row of epoch \(numbers[0]) has a wrong checksum")
                }
                return EpochStart(
                    epoch: Epoch(numbers[0]),
                    revision: Revision(numbers[1]),
                    stateVersion: numbers[2],
                    time: Timestamp(milliseconds: Int64(bitPattern: numbers[3]))
                )
            }
    }

    // MARK: Records

    static let insertRecord = "INSERT INTO record VALUES (?, ?, ?, ?, ?)"
    static let recordsAfter =
        "SELECT sequence, start, end, checksum, body FROM record WHERE sequence > ? ORDER BY sequence"

    static let oldest = "SELECT sequence, length(body) FROM record WHERE sequence <= ? ORDER BY sequence"

    fileprivate static func checksum(_ numbers: [UInt64], _ bytes: [UInt8] = []) -> Int64 {
        Int64(Checksum.of(numbers, bytes))
    }
}

extension UInt64 {
    /// As stored in SQLite, whose integers are signed.
    fileprivate var bits: Int64 { Int64(bitPattern: self) }
}

extension Row {
    // The converting subscripts of GRDB trap if a damaged row has a value of another type.

    /// - Throws: `SQLITE_CORRUPT` if the value is not an integer.
    func bits(_ index: Int) throws -> UInt64 {
        guard case .int64(let number) = (self[index] as DatabaseValue).storage else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "a row has a value that is no integer")
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

    /// `nil` if the row is damaged.
    init?(intact row: Row) {
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

    private var checksum: Int64 { JournalSchema.checksum(numbers, body) }

    /// Reads a row, and checks that it is intact and follows the previous record.
    init(
        _ row: Row,
        after sequence: JournalSequence,
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
