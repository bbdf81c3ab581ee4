import PostgresCluster
import StatecastCore
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import Testing

/// What a store's journal in a real PostgreSQL guarantees.
@Suite struct SharedJournalTests {
    private let server: PostgresServer
    private let database: PostgresDatabase

    init() throws {
        server = try PostgresServer()
        database = try PostgresDatabase.patient(server.uri)
        try database.create(.test)
    }

    @Test func `A new store has no leader and no content`() throws {
        let row = try #require(try database.leaders(of: [.test]).first)
        #expect(row.isResigned && row.term == Epoch(0) && row.head == JournalSequence(0) && row.isSameTimeline)
        #expect(!row.isSynchronous)
        let contents = try #require(try database.contents(of: .test, by: nil))
        #expect(contents.contents.identity == .test)
        #expect(throws: JournalFailure.self) { try database.create(.test) }
    }

    @Test func `Several stores without content share a database`() throws {
        let begun = JournalIdentity.test.begun
        let other = JournalIdentity(store: try StoreName("other"), lineage: Lineage(bits: 78), begun: begun)
        try database.create(other)
        let rows = try database.leaders(of: [other.store, .test])
        #expect(rows.map(\.head) == [JournalSequence(0), JournalSequence(0)])
        #expect(try database.contents(of: other.store, by: nil)?.contents.identity == other)
        try database.claimTest().start(after: 0)
    }

    @Test func `A failed creation leaves nothing, and can be repeated`() throws {
        let server = try PostgresServer()
        let database = try PostgresDatabase.patient(server.uri)
        // A table has a type of its name.
        try server.sql("CREATE SCHEMA statecast; CREATE TYPE statecast.snapshot AS ENUM ('one')")
        #expect(throws: JournalFailure.self) { try database.create(.test) }
        #expect(try server.sql("SELECT to_regclass('statecast.leader') IS NULL") == "t")
        try server.sql("DROP TYPE statecast.snapshot")
        try database.create(.test)
        #expect(try database.leaders(of: [.test]).count == 1)
    }

    @Test func `Only the node with the last claim can append`() throws {
        let first = try database.claimTest()
        try first.start(after: 0)
        try first.journal.append([.test(1), .test(2)])
        let second = try database.claimTest()
        #expect(second.fence.term == first.fence.term.next)
        #expect(throws: JournalFailure.self) { try first.journal.append([.test(3)]) }
        #expect(throws: JournalFailure.self) { try first.journal.renew() }
        #expect(throws: JournalFailure.self) { try first.journal.open() }
        #expect(try second.journal.open()?.last == JournalSequence(2))
        try second.start(after: 2)
        try second.journal.append([.test(3)])
        #expect(
            try second.journal.records(after: JournalSequence(0), maxBytes: .max) == [.test(1), .test(2), .test(3)]
        )
    }

    @Test func `A claim with the term of a lost one is another claim`() throws {
        let lost = try database.claimTest()
        try lost.start(after: 0)
        // After a promotion that has lost the claim, another node has taken its term.
        try server.sql("UPDATE statecast.leader SET holder = gen_random_uuid()")
        let failure = #expect(throws: JournalFailure.self) { try lost.journal.append([.test(1)]) }
        #expect(failure?.code == .fenced)
    }

    @Test func `Crashes of all nodes are added up`() throws {
        let (session, number) = (SessionID(high: 1, low: 2), ActionNumber(3))
        for _ in 0..<2 {
            let marker = CrashMarker()
            marker.begin(session, number)
            try SharedJournal(database, store: .test, crashMarker: marker).reportCrashes()
            #expect(marker.suspects.isEmpty)
        }
        let marker = CrashMarker()
        let next = SharedJournal(database, store: .test, crashMarker: marker)
        try next.readCrashes()
        #expect(marker.suspects == [Suspect(session: session, number: number, isPoison: true)])
        // The next process on its machine has nothing to add.
        try SharedJournal(database, store: .test, crashMarker: marker).reportCrashes()
        #expect(try database.crashes(of: .test).map(\.count) == [2])
        try next.removeCrashes(of: session, number)
        #expect(try database.crashes(of: .test).isEmpty)
    }

    @Test func `Records are read in pages, and a changed one is refused`() throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try leader.journal.append((1...5).map { .test($0, bytes: 100) })
        let page = try leader.journal.records(after: JournalSequence(1), maxBytes: 150)
        #expect(page.map(\.sequence) == [JournalSequence(2), JournalSequence(3)])
        try server.sql("UPDATE statecast.record SET body = 'x' WHERE sequence = 3")
        #expect(throws: JournalFailure.self) {
            try leader.journal.records(after: JournalSequence(1), maxBytes: .max)
        }
        try server.sql("DELETE FROM statecast.record WHERE sequence < 3")
        let failure = #expect(throws: JournalFailure.self) {
            try leader.journal.records(after: JournalSequence(1), maxBytes: .max)
        }
        #expect(failure?.code == .pruned)
    }

    @Test func `A snapshot of several chunks is stored and read, and replaces an interim one`() throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try leader.journal.append([.test(1), .test(2)])
        let interim = JournalSnapshot.test(1, bytes: 10)
        try leader.journal.store(interim, as: .interim)
        #expect(try leader.journal.snapshot(interim.entry) == interim)
        let regular = JournalSnapshot.test(2, bytes: 3_000_000)
        try leader.journal.store(regular, as: .regular)
        #expect(try leader.journal.snapshots() == [regular.entry])
        #expect(try leader.journal.snapshot(regular.entry) == regular)
        #expect(try server.sql("SELECT count(*) FROM statecast.chunk") == "3")
    }

    @Test func `A deposed leader changes no snapshot and prunes nothing`() throws {
        let deposed = try database.claimTest()
        try deposed.start(after: 0)
        try deposed.journal.append((1...6).map { .test($0) })
        let next = try database.claimTest()
        try next.start(after: 6)
        for number in [2, 4, 6] as [UInt64] { try next.journal.store(.test(number, bytes: 10), as: .regular) }
        #expect(throws: JournalFailure.self) { try deposed.journal.store(.test(6, bytes: 20), as: .regular) }
        try? deposed.journal.prune(keeping: 0)
        #expect(try next.journal.snapshots().count == 3)
        #expect(try next.journal.records(after: JournalSequence(0), maxBytes: .max).count == 6)
        try next.journal.prune(keeping: 0)
        #expect(try next.journal.snapshots().count == 2)
        #expect(try next.journal.records(after: JournalSequence(4), maxBytes: .max).count == 2)
    }

    @Test func `The last record stays, so that the head is known`() throws {
        let leader = try database.claimTest()
        try leader.start(after: 0)
        try leader.journal.append([.test(1)])
        for _ in 0..<3 { try leader.journal.store(.test(1, bytes: 10), as: .regular) }
        try leader.journal.prune(keeping: 0)
        #expect(try database.leaders(of: [.test])[0].head == JournalSequence(1))
        try leader.journal.append([.test(2)])
    }
}
