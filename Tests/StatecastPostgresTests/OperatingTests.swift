import Foundation
import PostgresCluster
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import Testing

/// Programs of operators that work with the same database: a real pgbouncer, a real pg_dump.
@Suite(.timeLimit(.minutes(10))) struct OperatingTests {
    @Test func `Nodes lead and are replaced through a pooler with a session for each connection`() throws {
        let server = try PostgresServer()
        let pooler = try Pooler(of: server, mode: "session")
        try PostgresDatabase.patient(server.uri).create(.test)
        let database = try PostgresDatabase.patient(pooler.uri)
        let first = try database.claimTest()
        try first.start(after: 0)
        try first.journal.append([.test(1)])
        let second = try PostgresDatabase.patient(pooler.uri).claimTest()
        try second.start(after: 1)
        let failure = #expect(throws: JournalFailure.self) { try first.journal.append([.test(2)]) }
        #expect(failure?.code == .fenced)
        try second.journal.append([.test(2)])
    }

    @Test func `A pooler that gives statements of several connections one session is refused`() throws {
        let server = try PostgresServer()
        let pooler = try Pooler(of: server, mode: "transaction")
        try PostgresDatabase.patient(server.uri).create(.test)
        let (first, second) = (try PostgresDatabase.patient(pooler.uri), try PostgresDatabase.patient(pooler.uri))
        let failure = #expect(throws: (any Error).self) {
            while true {
                try Task.checkCancellation()
                _ = try first.leaders(of: [.test])
                _ = try second.leaders(of: [.test])
            }
        }
        #expect("\(String(describing: failure))".contains("pool_mode=session"), "\(String(describing: failure))")
    }

    @Test func `A node needs few rights, and connects with TLS and a passfile or a certificate`() throws {
        let server = try PostgresServer()
        try PostgresDatabase.patient(server.uri).create(.test)
        let files = try server.encrypt(password: "p w")
        let passfile = files + "/passfile"
        try #"localhost:*:*:secret:p w"#.write(toFile: passfile, atomically: true, encoding: .utf8)
        chmod(passfile, 0o600)
        let place =
            "localhost:\(server.port)/postgres?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=\(files)/ca.pem"
        let uris = [
            "postgresql://secret@\(place)&channel_binding=require&passfile=\(passfile)",
            "postgresql://certified@\(place)&sslcert=\(files)/certified.pem&sslkey=\(files)/certified.key",
        ]
        for (number, uri) in zip(1...UInt64(2), uris) {
            let database = try PostgresDatabase.patient(uri)
            var generator = SystemRandomNumberGenerator()
            try database.standBy(NodeID(using: &generator), for: [.test], heads: [JournalSequence(0)])
            let leader = try database.claimTest()
            try leader.start(after: number - 1)
            try leader.journal.append([.test(number)])
            try leader.journal.renew()
            for _ in 0..<3 { try leader.journal.store(.test(number, bytes: 2_000_000), as: .regular) }
            try leader.journal.prune(keeping: 0)
            let crash = CrashMarker.Crashes(session: SessionID(high: 1, low: 2), number: ActionNumber(number), count: 1)
            try database.add([crash], of: .test)
            #expect(try database.crashes(of: .test) == [crash])
            try database.removeCrashes(of: crash.session, crash.number, of: .test)
            try leader.journal.resign(to: nil)
        }
        let plainURI = server.uri.replacing("statecast@", with: "secret@") + "?sslmode=disable"
        let plain = try PostgresDatabase.patient(plainURI)
        #expect(throws: JournalFailure.self) { try plain.leaders(of: [.test]) }
    }

    @Test func `A dump of a database in use is a prefix of its history, and delays no commit`() async throws {
        let server = try PostgresServer()
        let database = try PostgresDatabase.patient(server.uri)
        try database.create(.test)
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try leader.journal.append((1...100).map { .test($0, bytes: 1000) })
        let copy = try PostgresServer()
        async let dumped: Void = server.dump(to: copy)
        for number in 101...UInt64(300) { try leader.journal.append([.test(number)]) }
        try await dumped
        let restored = try PostgresDatabase.patient(copy.uri)
        let contents = try #require(try restored.contents(of: .test, by: nil)).contents
        let records = try restored.records(of: .test, after: JournalSequence(0), maxBytes: .max, by: nil)
        #expect(records.count >= 100 && contents.last == records.last?.sequence)
        #expect(records == (1...UInt64(records.count)).map { .test($0, bytes: $0 > 100 ? 10 : 1000) })
        // It goes on there, under a new claim.
        let next = try restored.claimTest()
        try next.start(after: UInt64(records.count))
        try next.journal.append([.test(UInt64(records.count) + 1)])
    }
}
