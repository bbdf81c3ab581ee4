import CStatecastSQLite
import StatecastThreading
import Testing

@testable import StatecastSQLite

@Suite struct `A connection to SQLite` {
    private let connection: SQLiteConnection

    init() throws {
        connection = try SQLiteConnection(":memory:", busyTimeout: .zero)
        try connection.execute("CREATE TABLE sample (number, text, blob)")
    }

    private func count() throws -> UInt64 {
        var rows = try connection.rows("SELECT count(*) FROM sample")
        #expect(try rows.next())
        return try rows.bits(0)
    }

    @Test(arguments: [0, 1, 100_000])
    func `A connection to SQLite stores values, also empty ones`(count: Int) throws {
        let (text, bytes) = (String(repeating: "ü", count: count), [UInt8](repeating: 7, count: count))
        try connection.execute("INSERT INTO sample VALUES (?, ?, ?)", [.bits(.max), .text(text), .blob(bytes)])
        #expect(connection.changeCount == 1)
        var rows = try connection.rows("SELECT number, text, blob FROM sample WHERE number = ?", -1)
        #expect(try rows.next())
        #expect(try rows.bits(0) == .max)
        #expect(rows.text(1) == text)
        #expect(rows.blob(2) == bytes)
        #expect(try !rows.next())
    }

    @Test func `A connection to SQLite reads no value as one of another type`() throws {
        try connection.execute("INSERT INTO sample VALUES ('text', x'01', 1.5), (NULL, 1, 'text')")
        var rows = try connection.rows("SELECT number, text, blob FROM sample")
        while try rows.next() {
            let failure = #expect(throws: SQLiteFailure.self) { try rows.bits(0) }
            #expect(failure?.primaryCode == SQLITE_CORRUPT)
            #expect(rows.text(1) == nil)
            #expect(rows.blob(2) == nil)
        }
    }

    @Test func `A connection to SQLite executes a statement while another of its kind has rows`() throws {
        try connection.execute("INSERT INTO sample VALUES (1, NULL, NULL), (2, NULL, NULL)")
        let sql = "SELECT number FROM sample WHERE number = ?"
        for _ in 0..<2 {
            var one = try connection.rows(sql, 1)
            var other = try connection.rows(sql, 2)
            let hasBoth = try (one.next(), other.next()) == (true, true)
            #expect(hasBoth)
            #expect(try one.bits(0) == 1)
            #expect(try other.bits(0) == 2)
        }
    }

    @Test func `A connection to SQLite rolls a failed transaction back, and continues`() throws {
        let insert = "INSERT INTO sample VALUES (1, NULL, NULL)"
        let failure = #expect(throws: SQLiteFailure.self) {
            try connection.transaction(.writing) {
                try connection.execute(insert)
                try connection.execute("INSERT INTO missing VALUES (1)")
            }
        }
        #expect(failure?.message == "no such table: missing")
        #expect(failure?.codeDescription == "1 (SQL logic error)")
        #expect(failure?.isOfStatement == true)
        #expect(try count() == 0)
        try connection.transaction(.writing) { try connection.execute(insert) }
        #expect(try count() == 1)
    }

    @Test func `A connection to SQLite refuses a file that is missing, and statements after it was closed`() throws {
        let missing = NewPath()
        let failure = #expect(throws: SQLiteFailure.self) {
            try SQLiteConnection(missing.path, isReadOnly: true, busyTimeout: .zero)
        }
        #expect(failure?.codeDescription == "14 (unable to open database file)")
        let closed = Locked<SQLiteConnection?>(try SQLiteConnection(":memory:", busyTimeout: .zero))
        closed.close()
        #expect(throws: SQLiteFailure.self) { try closed.use { try $0.execute("SELECT 1") } }
    }
}
