import Foundation
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@Suite struct `Verifying a journal` {
    private func failure(of journal: CounterJournal) throws -> String {
        journal.bench.journal.close()
        let reader = try JournalReader(at: journal.path)
        let failure = #expect(throws: JournalFailure.self) { try reader.verify() }
        #expect(failure?.code == .damaged)
        return failure?.message ?? ""
    }

    @Test func `Verifying a journal accepts an intact journal`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5, 11, 20])
        let found = try JournalReader(at: journal.path).verify()
        #expect(found.from.revision == Revision(0))
        #expect(found.to.revision == CounterJournal.revision(after: 20))
        #expect(found.snapshotCount == 4)
        #expect(found.tail == nil)
    }

    @Test func `Verifying a journal names the last revision before a changed record`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5])
        journal.bench.journal.close()
        try journal.bench.sql("UPDATE record SET body = zeroblob(length(body)) WHERE sequence = 12")
        let message = try failure(of: journal)
        let last = CounterJournal.revision(after: 11)
        #expect(message.contains("whole up to revision \(last), not beyond"), "\(message)")
        #expect(message.contains("from revision \(last.rawValue + 1) on: record 12 has a wrong checksum"), "\(message)")
    }

    @Test func `Verifying a journal names the last revision before a missing record`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5])
        journal.bench.journal.close()
        try journal.bench.sql("DELETE FROM record WHERE sequence = 12")
        let message = try failure(of: journal)
        #expect(
            message.contains("whole up to revision \(CounterJournal.revision(after: 11)), not beyond"),
            "\(message)"
        )
        #expect(message.contains("record 12 is missing"), "\(message)")
    }

    @Test func `Verifying a journal finds a record that leads to another state than it names`() throws {
        let journal = try CounterJournal.with(batches: 4)
        try journal.bench.journal.append([journal.nextRecord(digest: 1)])
        let message = try failure(of: journal)
        #expect(
            message.contains("whole up to revision \(CounterJournal.revision(after: 4)), not beyond"),
            "\(message)"
        )
        #expect(message.contains("record 5 does not fit: it leads to the digest"), "\(message)")
    }

    @Test func `Verifying a journal finds a snapshot to which no records lead`() throws {
        let journal = try CounterJournal.with(batches: 4)
        try journal.storeSnapshot(of: ["count": 1_000_000])
        try journal.append()
        let revision = CounterJournal.revision(after: 4)
        let message = try failure(of: journal)
        let expected = "the snapshot of revision \(revision) does not match the records that lead to it"
        #expect(message.contains(expected), "\(message)")
    }

    @Test(arguments: [0, 3] as [UInt64])
    func `Verifying a journal finds a snapshot that has the senders elsewhere`(batches: UInt64) throws {
        let journal = try CounterJournal()
        for _ in 0..<batches { try journal.append() }
        let sessions = journal.sessions
        for _ in batches..<4 { try journal.append() }
        try journal.storeSnapshot(sessions: sessions)
        let message = try failure(of: journal)
        let revision = CounterJournal.revision(after: 4)
        let expected = "the snapshot of revision \(revision) does not match the records that lead to it"
        #expect(message.contains(expected), "\(message)")
    }

    @Test func `Verifying a journal finds that acknowledged records are missing`() throws {
        let journal = try CounterJournal.with(batches: 4)
        journal.bench.journal.close()
        try journal.bench.sql("DELETE FROM record WHERE sequence = 4")
        #expect(try failure(of: journal).contains("acknowledged at revision \(CounterJournal.revision(after: 4))"))
    }

    @Test func `Verifying a journal finds that the commit mark file is missing`() throws {
        let journal = try CounterJournal.with(batches: 4)
        try FileManager.default.removeItem(atPath: journal.path + "/marks")
        #expect(try failure(of: journal).contains("\"marks\""))
    }

    @Test func `Verifying a journal accepts damage after the last acknowledged record`() throws {
        let journal = try CounterJournal.with(batches: 6)
        journal.bench.journal.close()
        try journal.bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 6")
        try journal.bench.acknowledge(5)
        let found = try JournalReader(at: journal.path).verify()
        #expect(found.to.revision == CounterJournal.revision(after: 5))
        #expect(found.tail?.contains("record 6 has a wrong checksum") == true)
    }
}
