import CStatecastSQLite
import StatecastThreading

/// A connection to an SQLite database. One thread at a time uses it, through a ``Locked``.
///
/// A statement stays prepared until the end of the connection's lifetime, which closes it.
final class SQLiteConnection {
    /// A transaction reads one state of the database. At most one connection at a time has one that writes.
    enum Transaction: String { case reading = "BEGIN", writing = "BEGIN IMMEDIATE" }

    /// A checkpoint writes the log into the database: what readers permit, or all of it. After the latter, the log is
    /// overwritten from its beginning, or its file is empty.
    enum Checkpoint: Int32 { case passive = 0, restart = 2, truncate = 3 }

    private let handle: OpaquePointer
    private var prepared: [String: OpaquePointer] = [:]

    /// Opens or creates a database.
    ///
    /// - Parameters:
    ///   - settings: pragmas that are executed before the database is read.
    ///   - busyTimeout: how long the connection waits for the locks of others.
    /// - Throws: ``SQLiteFailure``, also if the file is not a database.
    init(
        _ path: String,
        isReadOnly: Bool = false,
        settings: [String] = [],
        busyTimeout: Duration
    ) throws(SQLiteFailure) {
        let access = isReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, access | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { throw SQLiteFailure(code) }
        handle = opened
        guard code == SQLITE_OK else { throw SQLiteFailure(of: handle, isOfStatement: false) }
        sqlite3_busy_timeout(handle, Int32(busyTimeout / .milliseconds(1)))
        for setting in settings { try execute(setting) }
        try execute("SELECT 1 FROM sqlite_master LIMIT 1")
    }

    deinit {
        for statement in prepared.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    // MARK: Statements

    /// Executes a statement to its end.
    func execute(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteFailure) {
        let statement = try prepare(sql)
        defer { finish(statement, of: sql) }
        try execute(statement, with: values[...])
    }

    /// Begins a statement that reads.
    func rows(_ sql: String, _ numbers: Int64...) throws(SQLiteFailure) -> SQLiteRows {
        let rows = SQLiteRows(self, try prepare(sql), of: sql)
        for (index, number) in numbers.enumerated() {
            try check(sqlite3_bind_int64(rows.statement, Int32(index + 1), number))
        }
        return rows
    }

    /// The number of rows that the last statement changed.
    var changeCount: Int { Int(sqlite3_changes(handle)) }

    /// The statement, which is the caller's alone until ``finish(_:of:)``.
    private func prepare(_ sql: String) throws(SQLiteFailure) -> OpaquePointer {
        if let statement = prepared.removeValue(forKey: sql) { return statement }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { preconditionFailure("a statement is empty: \(sql)") }
        return statement
    }

    /// Binds the values without copying their bytes, which the statement reads until it is finished.
    private func execute(_ statement: OpaquePointer, with values: ArraySlice<SQLiteValue>) throws(SQLiteFailure) {
        guard let value = values.first else {
            while try step(statement) {}
            return
        }
        let (index, rest) = (Int32(values.startIndex + 1), values.dropFirst())
        switch value {
        case .integer(let number): try check(sqlite3_bind_int64(statement, index, number))
        case .text(let text): try check(statecast_bind_text(statement, index, text))
        case .blob([]): try check(sqlite3_bind_zeroblob(statement, index, 0))
        case .blob(let bytes):
            return try bytes.withUnsafeBufferPointer { bytes throws(SQLiteFailure) in
                try check(sqlite3_bind_blob64(statement, index, bytes.baseAddress, UInt64(bytes.count), nil))
                try execute(statement, with: rest)
            }
        }
        try execute(statement, with: rest)
    }

    /// - Returns: whether there is a row; `false` at the end of the statement.
    fileprivate func step(_ statement: OpaquePointer) throws(SQLiteFailure) -> Bool {
        let code = sqlite3_step(statement)
        if code == SQLITE_ROW || code == SQLITE_DONE { return code == SQLITE_ROW }
        throw SQLiteFailure(of: handle, isOfStatement: true)
    }

    fileprivate func finish(_ statement: OpaquePointer, of sql: String) {
        sqlite3_reset(statement)
        sqlite3_clear_bindings(statement)
        // Another one, if two of a kind were used at once.
        if let other = prepared.updateValue(statement, forKey: sql) { sqlite3_finalize(other) }
    }

    private func check(_ code: Int32) throws(SQLiteFailure) {
        guard code == SQLITE_OK else { throw SQLiteFailure(of: handle, isOfStatement: true) }
    }

    // MARK: Transactions

    /// Commits what `body` does, or rolls it back if that fails.
    func transaction<Result>(_ kind: Transaction, _ body: () throws -> Result) throws -> Result {
        try control(kind.rawValue)
        do {
            let result = try body()
            try control("COMMIT")
            return result
        } catch {
            // Some failures have rolled it back.
            if sqlite3_get_autocommit(handle) == 0 { try? control("ROLLBACK") }
            throw error
        }
    }

    /// If it fails, the tables are not the reason.
    private func control(_ sql: String) throws(SQLiteFailure) {
        do throws(SQLiteFailure) { try execute(sql) } catch { throw SQLiteFailure(error.code, error.message) }
    }

    /// Keeps the changes in a log beside the database until a checkpoint.
    func useLog() throws(SQLiteFailure) {
        var rows = try rows("PRAGMA journal_mode = WAL")
        guard try rows.next(), rows.text(0) == "wal" else {
            throw SQLiteFailure(SQLITE_ERROR, "could not activate WAL mode")
        }
    }

    func pageBytes() throws(SQLiteFailure) -> Int {
        var rows = try rows("PRAGMA page_size")
        return try rows.next() ? Int(clamping: rows.bits(0)) : 0
    }

    /// Writes the log into the database.
    ///
    /// - Returns: the number of pages in the log.
    /// - Throws: ``SQLiteFailure`` with the primary code `SQLITE_BUSY` if another connection prevents it.
    func checkpoint(_ kind: Checkpoint) throws(SQLiteFailure) -> Int {
        var pageCount: Int32 = 0
        guard sqlite3_wal_checkpoint_v2(handle, "main", kind.rawValue, &pageCount, nil) == SQLITE_OK else {
            throw SQLiteFailure(of: handle, isOfStatement: false)
        }
        return Int(pageCount)
    }
}

extension Locked<SQLiteConnection?> {
    /// Runs `body` with the connection.
    ///
    /// - Throws: ``SQLiteFailure`` if it is closed, and what `body` throws.
    func use<Result>(_ body: (SQLiteConnection) throws -> Result) throws -> Result {
        try withLock { connection in
            guard let connection else { throw SQLiteFailure(SQLITE_MISUSE, "Connection is closed") }
            return try body(connection)
        }
    }

    /// Closes the connection when nothing uses it.
    func close() { withLock { $0 = nil } }
}

/// A parameter of a statement.
enum SQLiteValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    /// As stored in SQLite, whose integers are signed.
    static func bits(_ number: UInt64) -> Self { .integer(Int64(bitPattern: number)) }
}

/// The rows of a statement, of which one at a time can be read.
///
/// A damaged row has values of any types, whatever the table declares.
struct SQLiteRows: ~Copyable {
    private let connection: SQLiteConnection
    fileprivate let statement: OpaquePointer
    private let sql: String

    fileprivate init(_ connection: SQLiteConnection, _ statement: OpaquePointer, of sql: String) {
        (self.connection, self.statement, self.sql) = (connection, statement, sql)
    }

    deinit { connection.finish(statement, of: sql) }

    /// Continues with the next row.
    ///
    /// - Returns: `false` after the last row.
    mutating func next() throws(SQLiteFailure) -> Bool { try connection.step(statement) }

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// - Throws: `SQLITE_CORRUPT` if the value is not an integer.
    func bits(_ column: Int32) throws(SQLiteFailure) -> UInt64 {
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else {
            throw SQLiteFailure(SQLITE_CORRUPT, "a row has a value that is no integer")
        }
        return UInt64(bitPattern: sqlite3_column_int64(statement, column))
    }

    /// `nil` if the value is not a text.
    func text(_ column: Int32) -> String? {
        guard sqlite3_column_type(statement, column) == SQLITE_TEXT else { return nil }
        return sqlite3_column_text(statement, column).map { String(cString: $0) }
    }

    /// `nil` if the value is not a blob.
    func blob(_ column: Int32) -> [UInt8]? {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        // An empty blob has no bytes to point to.
        guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
    }
}

/// A call of SQLite that failed.
struct SQLiteFailure: Error {
    /// The extended result code.
    let code: Int32
    let message: String
    /// Whether SQLite refused or failed to execute a statement.
    let isOfStatement: Bool

    init(_ code: Int32, _ message: String? = nil) {
        (self.code, self.message) = (code, message ?? Self.text(of: code))
        isOfStatement = false
    }

    fileprivate init(of connection: OpaquePointer, isOfStatement: Bool) {
        code = sqlite3_extended_errcode(connection)
        message = String(cString: sqlite3_errmsg(connection))
        self.isOfStatement = isOfStatement
    }

    var primaryCode: Int32 { code & 0xFF }

    /// The code and its meaning.
    var codeDescription: String { "\(code) (\(Self.text(of: code)))" }

    private static func text(of code: Int32) -> String { String(cString: sqlite3_errstr(code)) }
}
