import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import Testing

@testable import StatecastTesting

/// The behaviour of each journal on which a primary relies.
@Suite struct `A journal` {
    @Test(arguments: JournalKind.allCases)
    func `A journal keeps what a primary relies on`(kind: JournalKind) throws {
        var benches: [String: JournalBench] = [:]
        verifyJournal { place in
            let bench = benches[place] ?? JournalBench(kind)
            benches[place] = bench
            return bench.another()
        }
        #expect(benches.count > 5)
    }

    @Test func `A journal skips a snapshot of an interrupted pruning, and removes it at the next pruning`() throws {
        let bench = JournalBench(.full)
        try bench.begin()
        for sequence: UInt64 in 1...30 {
            try bench.journal.append([.sample(sequence)])
            if sequence.isMultiple(of: 10) { try bench.journal.store(.sample(sequence)) }
        }
        bench.journal.close()
        try bench.sql("DELETE FROM record WHERE sequence <= 7")
        _ = try bench.reopened()
        #expect(try bench.journal.snapshots().map(\.sequence.rawValue) == [10, 20, 30])
        #expect(try bench.dump().records.map(\.sequence.rawValue) == Array(11...30))
        try bench.journal.prune(keeping: .max)
        let files = try FileManager.default.contentsOfDirectory(atPath: bench.path + "/snapshots")
        #expect(files.sorted() == ["10-30.snapshot", "20-60.snapshot", "30-90.snapshot"])
    }

    @Test func `A journal in memory refuses records that exceed its bound`() throws {
        let journal = MemoryJournal(maxBytes: 250)
        _ = try journal.open()
        try journal.begin(.sample, from: .sample(0))
        try journal.append([.sample(1), .sample(2)])
        let failure = #expect(throws: JournalFailure.self) { try journal.append([.sample(3, bytes: 10), .sample(4)]) }
        #expect(failure?.code == .storageFull)
        try journal.append([.sample(3, bytes: 50)])
        #expect(try journal.records(after: JournalSequence(0), maxBytes: .max).count == 3)
    }
}
