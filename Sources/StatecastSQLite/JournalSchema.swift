import CStatecastSQLite
import StatecastCore
import StatecastJournal
import StatecastProtocol

/// The tables of a journal. Each row carries a checksum.
enum JournalSchema {
    /// The page size of a new database; it stays that with which the database was created. The cost of a commit depends
    /// on the number of its pages: with these, 1 MiB of records costs a quarter of the writes that 4 KiB pages need.
    static let pageBytes = 16 << 10

    // MARK: Versions

    /// The version of the tables. A later one adds its name to those in the table `grdb_migrations`, and omits none.
    private static let version = "1"

    private static let statements = [
        "CREATE TABLE IF NOT EXISTS grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)",
        """
        CREATE TABLE identity (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            store TEXT NOT NULL, lineage INTEGER NOT NULL, begun INTEGER NOT NULL, first INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE epoch (
            epoch INTEGER PRIMARY KEY,
            revision INTEGER NOT NULL, fingerprint INTEGER NOT NULL, time INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        )
        """,
        """
        CREATE TABLE record (
            sequence INTEGER PRIMARY KEY,
            start INTEGER NOT NULL, end INTEGER NOT NULL, checksum INTEGER NOT NULL, body BLOB NOT NULL
        )
        """,
        """
        CREATE TABLE origin (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            sequence INTEGER NOT NULL, revision INTEGER NOT NULL, content INTEGER NOT NULL,
            checksum INTEGER NOT NULL, context BLOB NOT NULL, state BLOB NOT NULL
        )
        """,
        "INSERT INTO grdb_migrations VALUES ('\(version)')",
    ]

    /// Creates the tables of a new database.
    static func create(_ db: SQLiteConnection) throws {
        guard try !versions(db).contains(version) else { return }
        try db.transaction(.writing) { for sql in statements { try db.execute(sql) } }
    }

    /// Refuses a journal of a later version. If this version is missing, the table is damaged, not newer.
    static func checkVersion(_ db: SQLiteConnection, _ directory: JournalDirectory) throws {
        let versions = try versions(db)
        guard versions.contains(where: { $0 != version }) else { return }
        guard !versions.contains(version) else { throw directory.newerFormat }
        throw directory.damaged("journal.sqlite has an unknown version")
    }

    private static func versions(_ db: SQLiteConnection) throws -> [String] {
        guard try exists("grdb_migrations", db) else { return [] }
        var versions: [String] = []
        var rows = try db.rows("SELECT identifier FROM grdb_migrations")
        while try rows.next() {
            guard let version = rows.text(0) else { throw SQLiteFailure(SQLITE_CORRUPT, "a version is not a text") }
            versions.append(version)
        }
        return versions
    }

    private static func exists(_ table: String, _ db: SQLiteConnection) throws -> Bool {
        var rows = try db.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '\(table)'")
        return try rows.next()
    }

    // MARK: Identity

    static func insert(_ identity: JournalIdentity, first: JournalSequence, _ db: SQLiteConnection) throws {
        let numbers = [identity.lineage.bits, UInt64(bitPattern: identity.begun.milliseconds), first.rawValue]
        let sum = checksum(numbers, Array(identity.store.text.utf8))
        try db.execute(
            "INSERT INTO identity VALUES (1, ?, ?, ?, ?, ?)",
            [.text(identity.store.text)] + numbers.map(SQLiteValue.bits) + [.bits(sum)]
        )
    }

    static func identity(
        _ db: SQLiteConnection,
        _ directory: JournalDirectory
    ) throws -> (identity: JournalIdentity, first: JournalSequence)? {
        // A process that ended while creating the tables has not begun a history.
        guard try exists("identity", db) else { return nil }
        var row = try db.rows("SELECT store, lineage, begun, first, checksum FROM identity")
        guard try row.next() else { return nil }
        let numbers = try row.bits(1...3)
        guard let text = row.text(0), try row.bits(4) == checksum(numbers, Array(text.utf8)),
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
    static func insert(origin snapshot: JournalSnapshot, maxBytes: Int = maxOriginBytes, _ db: SQLiteConnection) throws
    {
        guard snapshot.context.count + snapshot.state.count <= maxBytes else { return }
        let numbers = [
            snapshot.entry.sequence.rawValue, snapshot.entry.revision.rawValue, contentChecksum(of: snapshot),
        ]
        try db.execute(
            "INSERT INTO origin VALUES (1, ?, ?, ?, ?, ?, ?)",
            (numbers + [checksum(numbers)]).map(SQLiteValue.bits) + [.blob(snapshot.context), .blob(snapshot.state)]
        )
    }

    /// The entry of the first snapshot without its content; `nil` if there is no copy, or if its row is damaged.
    static func originEntry(_ db: SQLiteConnection) throws -> SnapshotEntry? {
        var row = try db.rows("SELECT sequence, revision, content, checksum FROM origin")
        return try row.next() ? originEntry(row) : nil
    }

    static func origin(_ db: SQLiteConnection, _ directory: JournalDirectory) throws -> JournalSnapshot? {
        var row = try db.rows("SELECT sequence, revision, content, checksum, context, state FROM origin")
        guard try row.next() else { return nil }
        guard let entry = originEntry(row), let context = row.blob(4), let state = row.blob(5),
            case let snapshot = JournalSnapshot(entry, context: context, state: state),
            try row.bits(2) == contentChecksum(of: snapshot)
        else {
            throw directory.damaged("the copy of the first snapshot in journal.sqlite has a wrong checksum")
        }
        return snapshot
    }

    /// `nil` if the row is damaged.
    private static func originEntry(_ row: borrowing SQLiteRows) -> SnapshotEntry? {
        guard let numbers = try? row.bits(0...2), (try? row.bits(3)) == checksum(numbers) else { return nil }
        return SnapshotEntry(sequence: JournalSequence(numbers[0]), revision: Revision(numbers[1]))
    }

    private static func contentChecksum(of snapshot: JournalSnapshot) -> UInt64 {
        UInt64(Checksum.of([UInt64(snapshot.context.count)], snapshot.context + snapshot.state))
    }

    // MARK: Epochs

    static func insert(_ epoch: EpochStart, _ db: SQLiteConnection) throws {
        let numbers = [
            epoch.epoch.rawValue, epoch.revision.rawValue, epoch.stateVersion,
            UInt64(bitPattern: epoch.time.milliseconds),
        ]
        let values = (numbers + [checksum(numbers)]).map(SQLiteValue.bits)
        try db.execute("INSERT INTO epoch VALUES (?, ?, ?, ?, ?)", values)
    }

    static func epochs(_ db: SQLiteConnection, _ directory: JournalDirectory) throws -> [EpochStart] {
        var epochs: [EpochStart] = []
        var row = try db.rows("SELECT epoch, revision, fingerprint, time, checksum FROM epoch ORDER BY epoch")
        while try row.next() {
            let numbers = try row.bits(0...3)
            guard try row.bits(4) == checksum(numbers) else {
                throw directory.damaged("the row of epoch \(numbers[0]) has a wrong checksum")
            }
            epochs.append(
                EpochStart(
                    epoch: Epoch(numbers[0]),
                    revision: Revision(numbers[1]),
                    stateVersion: numbers[2],
                    time: Timestamp(milliseconds: Int64(bitPattern: numbers[3]))
                )
            )
        }
        return epochs
    }

    // MARK: Records

    static let insertRecord = "INSERT INTO record VALUES (?, ?, ?, ?, ?)"
    static let recordsAfter =
        "SELECT sequence, start, end, checksum, body FROM record WHERE sequence > ? ORDER BY sequence"
    static let recordsBefore =
        "SELECT sequence, start, end, checksum, body FROM record WHERE sequence < ? AND sequence > ? "
        + "ORDER BY sequence DESC"

    static let oldest = "SELECT sequence, length(body) FROM record WHERE sequence <= ? ORDER BY sequence"

    fileprivate static func checksum(_ numbers: [UInt64], _ bytes: [UInt8] = []) -> UInt64 {
        UInt64(Checksum.of(numbers, bytes))
    }
}

extension SQLiteRows {
    /// - Throws: `SQLITE_CORRUPT` if a value is not an integer.
    fileprivate func bits(_ columns: ClosedRange<Int32>) throws -> [UInt64] {
        var numbers: [UInt64] = []
        for column in columns { numbers.append(try bits(column)) }
        return numbers
    }
}

extension JournalRecord {
    private var numbers: [UInt64] { [sequence.rawValue, from.rawValue, to.rawValue] }

    /// The parameters of ``JournalSchema/insertRecord``.
    var values: [SQLiteValue] { (numbers + [checksum]).map(SQLiteValue.bits) + [.blob(body)] }

    /// `nil` if the row is damaged.
    init?(intact row: borrowing SQLiteRows) {
        guard let record = try? JournalRecord(unchecked: row), (try? row.bits(3)) == record.checksum else {
            return nil
        }
        self = record
    }

    private init(unchecked row: borrowing SQLiteRows) throws {
        self.init(
            sequence: JournalSequence(try row.bits(0)),
            from: Revision(try row.bits(1)),
            to: Revision(try row.bits(2)),
            body: row.blob(4) ?? []
        )
    }

    private var checksum: UInt64 { JournalSchema.checksum(numbers, body) }

    /// Reads a row, and checks that it is intact and follows the previous record.
    init(
        _ row: borrowing SQLiteRows,
        after sequence: JournalSequence,
        _ revision: Revision?,
        in directory: JournalDirectory
    ) throws {
        try self.init(unchecked: row)
        let at = "from revision \((revision ?? from).next) on"
        guard self.sequence == sequence.next else {
            throw directory.damaged("\(at): record \(sequence.next) is missing")
        }
        guard try row.bits(3) == checksum else {
            throw directory.damaged("\(at): record \(self.sequence) has a wrong checksum")
        }
        guard revision == nil || revision == from else {
            throw directory.damaged("\(at): record \(self.sequence) begins at revision \(from)")
        }
    }
}
