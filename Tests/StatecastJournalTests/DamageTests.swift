import Foundation
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastTesting

/// A journal with damaged files is read correctly or refused.
@Suite struct `A damaged journal` {
    /// A journal with snapshots, epochs, and records both in the database and in its log, as a crash leaves it.
    private static func crashed() throws -> JournalBench {
        let bench = JournalBench(.full)
        try bench.begin()
        try bench.journal.claim(.sample(1, at: 0))
        try bench.journal.append((1...40).map { .sample($0, bytes: 700) })
        try bench.journal.store(.sample(20))
        _ = try bench.reopened()
        try bench.journal.claim(.sample(2, at: 120))
        for sequence: UInt64 in 41...60 { try bench.journal.append([.sample(sequence, bytes: 300)]) }
        try bench.journal.store(.sample(50))
        return try bench.crashed()
    }

    @Test func `A damaged journal without its log names the acknowledged revision and the remedy`() throws {
        let whole = JournalBench(.full)
        try whole.begin()
        try whole.journal.append((1...40).map { .sample($0) })
        _ = try whole.reopened()
        try whole.journal.append((41...60).map { .sample($0) })
        let bench = try whole.crashed()
        try FileManager.default.removeItem(atPath: bench.path + "/journal.sqlite-wal")
        let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
        #expect(failure?.code == .damaged)
        #expect(failure?.message.contains("it ends at revision 120 (record 40)") == true)
        #expect(failure?.message.contains("acknowledged at revision 180") == true, "\(String(describing: failure))")
        #expect(failure?.message.contains("statecast-journal salvage \(bench.path)") == true)
    }

    @Test func `A damaged journal does not reuse the number of an epoch`() throws {
        let bench = try Self.crashed()
        try bench.sql("DELETE FROM epoch WHERE epoch = 2")
        let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
        #expect(
            failure?.message.contains("has epochs up to 1, and 2 was claimed") == true,
            "\(String(describing: failure))"
        )
    }

    @Test func `A damaged journal drops records that were never acknowledged, and continues`() throws {
        let bench = try Self.crashed()
        _ = try bench.journal.open()
        bench.journal.close()
        try bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 60")
        let failure = #expect(throws: JournalFailure.self) {
            _ = try bench.journal.open()
            _ = try bench.dump()
        }
        #expect(failure?.message.contains("from revision 178 on: record 60 has a wrong checksum") == true)
        bench.journal.close()
        // The process ends between the commit of the last two records and their acknowledgement.
        try bench.acknowledge(58)
        let contents = try bench.journal.open()
        #expect(contents?.last == JournalSequence(59))
        #expect(contents?.droppedCount == 1)
        #expect(try bench.dump().records.count == 59)
        try bench.journal.append([.sample(60)])
        bench.journal.close()
    }

    @Test func `A damaged journal without a record that a start has found is refused, acknowledged or not`() throws {
        let bench = try Self.crashed()
        // The process ended between the commit of the last two records and their acknowledgement.
        try bench.acknowledge(58)
        #expect(try bench.journal.open()?.last == JournalSequence(60))
        try bench.journal.claim(.sample(3, at: 180))
        bench.journal.close()
        try bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 60")
        let failure = #expect(throws: JournalFailure.self) {
            _ = try bench.journal.open()
            _ = try bench.dump()
        }
        #expect(failure?.message.contains("from revision 178 on: record 60 has a wrong checksum") == true)
        bench.journal.close()
    }

    @Test func `A damaged journal drops damaged records at the first write, not earlier`() throws {
        let bench = try Self.crashed()
        _ = try bench.journal.open()
        bench.journal.close()
        try bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 60")
        try bench.acknowledge(58)
        let found = try files(of: bench.path)
        #expect(try bench.journal.open()?.last == JournalSequence(59))
        #expect(try bench.dump().records.count == 59)
        bench.journal.close()
        #expect(try files(of: bench.path) == found)
        _ = try bench.journal.open()
        try bench.journal.append([.sample(60, bytes: 7)])
        #expect(try bench.dump().records.last == .sample(60, bytes: 7))
        bench.journal.close()
    }

    /// Damages a journal that was closed, and expects it to be refused.
    private func refusal(_ sql: String, acknowledged: UInt64? = nil) throws -> String {
        let bench = try Self.crashed()
        _ = try bench.journal.open()
        bench.journal.close()
        try bench.sql(sql)
        if let acknowledged { try bench.acknowledge(acknowledged) }
        let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
        #expect(failure?.code == .damaged)
        return failure?.message ?? ""
    }

    @Test func `A damaged journal whose last acknowledged record has another number is refused`() throws {
        let message = try refusal("UPDATE record SET sequence = 77 WHERE sequence = 60")
        #expect(message.contains("record 60, which was acknowledged, is missing"), "\(message)")
    }

    @Test func `A damaged journal with an intact record after a damaged one is refused`() throws {
        let message = try refusal("UPDATE record SET checksum = 0 WHERE sequence = 59", acknowledged: 58)
        #expect(message.contains("record 59 cannot be read, and the later record 60 can"), "\(message)")
    }

    @Test func `A damaged journal that ends before its snapshots is refused`() throws {
        let message = try refusal("DELETE FROM record WHERE sequence >= 45", acknowledged: 40)
        #expect(message.contains("ends with record 44, and the snapshot of revision 150 was created after record 50"))
    }

    @Test func `A damaged journal with snapshots and no records is refused`() throws {
        let bench = try Self.crashed()
        for file in ["journal.sqlite", "journal.sqlite-wal", "marks"] {
            try FileManager.default.removeItem(atPath: bench.path + "/" + file)
        }
        let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
        #expect(failure?.message.contains("journal.sqlite is missing") == true)
    }

    @Test func `A damaged journal keeps the records up to its newest snapshot if the marks are older`() throws {
        let bench = try Self.crashed()
        _ = try bench.journal.open()
        bench.journal.close()
        try bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 35")
        try bench.acknowledge(10)
        let contents = try bench.journal.open()
        #expect(contents?.last == JournalSequence(60))
        #expect(try bench.journal.records(after: JournalSequence(50), maxBytes: .max).count == 10)
        bench.journal.close()
    }

    @Test func `A damaged journal whose records begin at 0 finds no record for a revision`() throws {
        let bench = try Self.crashed()
        _ = try bench.journal.open()
        bench.journal.close()
        try bench.sql("UPDATE record SET sequence = 0 WHERE sequence = 1")
        #expect(try JournalReader(at: bench.path).sequence(at: Revision(2)) == nil)
    }

    @Test func `A damaged journal removes incomplete snapshots`() throws {
        let bench = try Self.crashed()
        let draft = bench.path + "/snapshots/70-210.snapshot.draft"
        try Data("half".utf8).write(to: URL(filePath: draft))
        _ = try bench.journal.open()
        #expect(!FileManager.default.fileExists(atPath: draft))
        bench.journal.close()
    }
}
