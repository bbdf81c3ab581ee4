import StatecastCore
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import Testing

extension StoreName {
    static let test = {
        do { return try StoreName("test") } catch { preconditionFailure("\(error)") }
    }()
}

extension JournalIdentity {
    static let test = JournalIdentity(store: .test, lineage: Lineage(bits: 77), begun: Timestamp(milliseconds: 5))
}

extension JournalRecord {
    static func test(_ number: UInt64, bytes: Int = 10) -> JournalRecord {
        let body = (0..<bytes).map { UInt8(truncatingIfNeeded: Int(number) + $0) }
        return JournalRecord(
            sequence: JournalSequence(number),
            from: Revision(number - 1),
            to: Revision(number),
            body: body
        )
    }
}

extension JournalSnapshot {
    static func test(_ number: UInt64, bytes: Int) -> JournalSnapshot {
        let entry = SnapshotEntry(sequence: JournalSequence(number), revision: Revision(number))
        return JournalSnapshot(entry, context: [1, 2], state: (0..<bytes).map { UInt8(truncatingIfNeeded: $0) })
    }
}

/// A node that has claimed the store of the tests.
struct TestLeader {
    let journal: SharedJournal
    let fence: Fence

    func start(after revision: UInt64) throws {
        _ = try journal.open()
        let time = Timestamp(milliseconds: 0)
        try journal.claim(EpochStart(epoch: fence.term, revision: Revision(revision), stateVersion: 0, time: time))
    }
}

extension PostgresDatabase {
    /// Waits for answers as long as a busy machine may need.
    static func patient(_ uri: String) throws -> PostgresDatabase {
        var times = CommitTimes()
        (times.late, times.limit) = (.seconds(600), .seconds(600))
        return try PostgresDatabase(uri, times)
    }

    func claimTest() throws -> TestLeader {
        var generator = SystemRandomNumberGenerator()
        let rows = try leaders(of: [.test])
        let (holder, node) = (NodeID(using: &generator), NodeID(using: &generator))
        let claim = LeaderClaim(holder: holder, node: node, seen: rows, endpoint: "tcp://127.0.0.1:7101")
        let terms = try #require(try self.claim([.test], above: [Epoch(0)], claim))
        let fence = Fence(term: terms[0], holder: claim.holder)
        let journal = SharedJournal(self, store: .test, crashMarker: CrashMarker())
        journal.claimed(fence, isSynchronous: rows[0].isSynchronous)
        return TestLeader(journal: journal, fence: fence)
    }
}
