import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading
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

    /// Opens and reads a damaged copy.
    private func check(_ bench: JournalBench, _ original: JournalDump, _ damage: String) throws {
        do throws(JournalFailure) {
            let contents = try bench.journal.open()
            defer { bench.journal.close() }
            guard contents != nil else {
                Issue.record("\(damage): the journal seems to be new")
                return
            }
            #expect(contents?.epochs == [.sample(1, at: 0), .sample(2, at: 120)], "\(damage)")
            #expect(contents?.last == JournalSequence(60), "\(damage)")
            var records: [JournalRecord] = []
            var last = JournalSequence(0)
            while let end = try read(bench, after: last) {
                records += end
                last = records[records.count - 1].sequence
            }
            #expect(records == original.records, "\(damage)")
            for entry in try bench.journal.snapshots() {
                let snapshot = try bench.journal.snapshot(entry)
                #expect(original.snapshots.contains(snapshot), "\(damage)")
            }
        } catch {
            #expect([.damaged, .pruned, .inputOutput].contains(error.code), "\(damage): \(error)")
            #expect(error.message.contains(bench.path) || error.code == .pruned, "\(damage): \(error)")
        }
    }

    private func read(_ bench: JournalBench, after last: JournalSequence) throws(JournalFailure) -> [JournalRecord]? {
        let records = try bench.journal.records(after: last, maxBytes: 1 << 16)
        return records.isEmpty ? nil : records
    }

    private static func original() throws -> (bench: JournalBench, everything: JournalDump) {
        let bench = try crashed()
        let whole = try bench.crashed()
        _ = try whole.journal.open()
        let everything = try whole.dump()
        #expect(everything.records.count == 60)
        #expect(everything.snapshots.count == 3)
        whole.journal.close()
        return (bench, everything)
    }

    private static let files = [
        "journal.sqlite", "journal.sqlite-wal", "marks", "snapshots/0-0.snapshot", "snapshots/20-60.snapshot",
        "snapshots/50-150.snapshot",
    ]

    @Test(arguments: files)
    func `A damaged journal with a bit flipped is right or refused`(file: String) throws {
        let (bench, everything) = try Self.original()
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: .min ... .max, using: &generator)
        var random = SplitMix64(seed: seed)
        for _ in 0..<60 {
            let copy = try bench.crashed()
            let url = URL(filePath: copy.path + "/" + file)
            var data = try Data(contentsOf: url)
            // Half of the changes at the beginning, which has the headers.
            let range = random.next().isMultiple(of: 2) ? min(512, data.count) : data.count
            let offset = Int(random.next() % UInt64(range))
            data[offset] ^= 1 << UInt8(random.next() % 8)
            try data.write(to: url)
            try check(copy, everything, "\(file), byte \(offset), seed \(seed)")
        }
    }

    @Test(arguments: files)
    func `A damaged journal with a file cut is right or refused`(file: String) throws {
        let (bench, everything) = try Self.original()
        for part in 0..<16 {
            let copy = try bench.crashed()
            let url = URL(filePath: copy.path + "/" + file)
            let data = try Data(contentsOf: url)
            let count = data.count * part / 16
            try data.prefix(count).write(to: url)
            try check(copy, everything, "\(file), cut to \(count) bytes")
        }
    }

    @Test(arguments: files)
    func `A damaged journal with a file deleted is right or refused`(file: String) throws {
        let (bench, everything) = try Self.original()
        try FileManager.default.removeItem(atPath: bench.path + "/" + file)
        try check(bench, everything, "without \(file)")
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
        let found = try StatecastJournalTests.files(of: bench.path)
        #expect(try bench.journal.open()?.last == JournalSequence(59))
        #expect(try bench.dump().records.count == 59)
        bench.journal.close()
        #expect(try StatecastJournalTests.files(of: bench.path) == found)
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
