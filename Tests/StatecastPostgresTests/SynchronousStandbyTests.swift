import Foundation
import PostgresCluster
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import Testing

/// What is acknowledged while commits wait for another server: real servers, whose standby is stopped.
@Suite(.serialized) struct SynchronousStandbyTests {
    private let server: PostgresServer
    private let standby: PostgresServer
    private let database: PostgresDatabase

    init() throws {
        server = try PostgresServer()
        database = try PostgresDatabase.patient(server.uri)
        try database.create(.test)
        standby = try server.makeStandby(isSynchronous: true)
    }

    @Test func `A claim notes that commits wait, and they are durable on both servers`() throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try leader.journal.append([.test(1)])
        #expect(try database.leaders(of: [.test])[0].isSynchronous)
        let snapshot = JournalSnapshot.test(1, bytes: 3_000_000)
        try leader.journal.store(snapshot, as: .regular)
        #expect(try leader.journal.snapshot(snapshot.entry) == snapshot)
        #expect(try standby.sql("SELECT count(*) FROM statecast.record") == "1")
    }

    @Test func `A commit that an operator cancels is not acknowledged until the standby has it`() async throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try standby.suspend()
        let outcome = append([.test(1)], leader.journal)
        try server.cancelWaitingCommit()
        let failure = await outcome.value
        // PostgreSQL has committed on this server alone, and says so in a warning only.
        #expect(failure?.code == .unknown)
        #expect(try server.sql("SELECT count(*) FROM statecast.record") == "1")
        try standby.resume()
        try leader.journal.repeatUntilKnown([.test(1)])
        #expect(try standby.sql("SELECT count(*) FROM statecast.record") == "1")
        #expect(try server.sql("SELECT count(*) FROM statecast.record") == "1")
        // Only a later renewal says that it is settled: that one might have been committed on one server, too.
        #expect(try server.sql("SELECT settled FROM statecast.leader") == "0")
        try leader.journal.renew()
        #expect(try server.sql("SELECT settled FROM statecast.leader") == "1")
    }

    @Test func `A repetition that finds no room does not say that nothing is stored`() async throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try standby.suspend()
        let outcome = append([.test(1)], leader.journal)
        try server.cancelWaitingCommit()
        #expect(await outcome.value?.code == .unknown)
        // As when a volume is full. The standby cannot confirm this change.
        try server.sql(
            """
            SET synchronous_commit = local;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
              $$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = '53100'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON statecast.record EXECUTE FUNCTION refuse();
            CREATE TRIGGER refuse BEFORE UPDATE ON statecast.leader EXECUTE FUNCTION refuse();
            """
        )
        for _ in 0..<4 {
            let failure = #expect(throws: JournalFailure.self) { try leader.journal.append([.test(1)]) }
            #expect(failure?.code == .unknown)
        }
        try standby.resume()
        try server.sql("DROP FUNCTION refuse CASCADE")
        try leader.journal.repeatUntilKnown([.test(1)])
        #expect(try standby.sql("SELECT count(*) FROM statecast.record") == "1")
    }

    @Test func `A commit during which the server restarts is not acknowledged until the standby has it`() async throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try standby.suspend()
        let outcome = append([.test(1)], leader.journal)
        try server.awaitWaitingCommit()
        server.kill()
        #expect(await outcome.value?.code == .unknown)
        try standby.resume()
        try server.start()
        try leader.journal.repeatUntilKnown([.test(1)])
        #expect(try standby.sql("SELECT count(*) FROM statecast.record") == "1")
    }

    @Test func `A commit that an operator no longer lets wait is confirmed by a later one`() async throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        // Each answer counts as late.
        var times = CommitTimes()
        (times.late, times.limit) = (.zero, .seconds(600))
        let suspicious = try PostgresDatabase(server.uri, times)
        let journal = SharedJournal(suspicious, store: .test, crashMarker: CrashMarker())
        journal.claimed(leader.fence, isSynchronous: true)
        _ = try journal.open()
        try standby.suspend()
        let outcome = append([.test(1)], journal)
        try server.awaitWaitingCommit()
        try server.set("synchronous_standby_names", to: "")
        // A plain success, but for the time.
        #expect(await outcome.value?.code == .unknown)
        _ = try leader.journal.open()
        try leader.journal.append([.test(2)])
        #expect(try database.leaders(of: [.test])[0].isSynchronous == false)
        try standby.resume()
    }

    @Test func `After a promotion the records are there, and the old leader is fenced`() throws {
        let old = try database.claimTest()
        try old.start(after: 0)
        try old.journal.append([.test(1), .test(2)])
        server.kill()
        try standby.promote()
        let promoted = try PostgresDatabase.patient(standby.uri)
        let row = try promoted.leaders(of: [.test])[0]
        #expect(!row.isSameTimeline && row.isSynchronous && row.head == JournalSequence(2))
        // The old claim is not in effect on the promoted server, although its row is there.
        let deposed = SharedJournal(promoted, store: .test, crashMarker: CrashMarker())
        deposed.claimed(old.fence, isSynchronous: true)
        _ = try deposed.open()
        #expect(throws: JournalFailure.self) { try deposed.append([.test(3)]) }
        let next = try promoted.claimTest()
        try next.start(after: 2)
        try next.journal.append([.test(3)])
    }

    /// Begins to append on a thread of its own: the test blocks one of the few that run tasks.
    private func append(_ records: [JournalRecord], _ journal: SharedJournal) -> Task<JournalFailure?, Never> {
        let (outcomes, outcome) = AsyncStream.makeStream(of: JournalFailure?.self)
        Thread.detachNewThread {
            var failure: JournalFailure?
            do throws(JournalFailure) { try journal.append(records) } catch { failure = error }
            outcome.yield(failure)
        }
        return Task { await outcomes.first { _ in true } ?? nil }
    }
}

extension SharedJournal {
    /// As the writer of a node does.
    func repeatUntilKnown(_ records: [JournalRecord]) throws {
        while true {
            do throws(JournalFailure) { return try append(records) } catch {
                guard error.code == .unknown else { throw error }
            }
        }
    }
}

extension PostgresServer {
    private static let waiting = "FROM pg_stat_activity WHERE wait_event = 'SyncRep'"

    /// Waits until a commit waits for the standby.
    func awaitWaitingCommit() throws { while try sql("SELECT count(*) \(Self.waiting)") == "0" {} }

    func cancelWaitingCommit() throws {
        while try !sql("SELECT pg_cancel_backend(pid) \(Self.waiting)").contains("t") {}
    }
}
