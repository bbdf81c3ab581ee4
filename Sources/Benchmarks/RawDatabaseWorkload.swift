import ArgumentParser
import CStatecastPostgres
import Foundation

/// The reference of a shared journal: one client of libpq that inserts rows of random bytes, each in a commit of its
/// own, without anything of Statecast.
struct RawDatabaseWorkload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw-database",
        abstract: "Rows into a table of a database through libpq, a commit each; the rate is in bytes per second."
    )

    @Option(help: "The address of the database.") var database: String
    @Option(help: "Rows of the round.") var actions = 2000
    @Option(help: "Bytes of a row.") var bytes = 16 << 10

    func run() throws {
        let connection = PQconnectdb(database)
        defer { PQfinish(connection) }
        func check(_ result: OpaquePointer?) throws {
            defer { PQclear(result) }
            guard PQresultStatus(result) == PGRES_COMMAND_OK else {
                throw Invalid(String(cString: PQerrorMessage(connection)))
            }
        }
        try check(PQexec(connection, "DROP TABLE IF EXISTS raw"))
        try check(PQexec(connection, "CREATE TABLE raw (number bigserial PRIMARY KEY, body bytea NOT NULL)"))
        // As in the table of records: random bytes are not compressed.
        try check(PQexec(connection, "ALTER TABLE raw ALTER body SET STORAGE EXTERNAL"))
        // 17 is the type `bytea`.
        try check(PQprepare(connection, "insert", "INSERT INTO raw (body) VALUES ($1)", 1, [17]))
        let body = (0..<bytes).map { _ in CChar.random(in: .min ... .max) }
        var samples: [UInt64] = []
        let begin = monotonicNow()
        for _ in 0..<actions {
            let start = monotonicNow()
            try body.withUnsafeBufferPointer { body in
                try check(PQexecPrepared(connection, "insert", 1, [body.baseAddress], [Int32(bytes)], [1], 0))
            }
            samples.append(monotonicNow() - start)
        }
        var figures = Figures()
        figures.seconds = Double(monotonicNow() - begin) / 1e9
        figures.rate = Double(actions * bytes) / (figures.seconds ?? 1)
        figures.add(latencies: samples)
        try figures.print()
    }
}
