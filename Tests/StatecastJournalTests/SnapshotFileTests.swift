import Foundation
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastTesting

@Suite struct `A snapshot's file` {
    @Test(arguments: [0, 1, 5 << 20])
    func `A snapshot's file returns the written content`(bytes: Int) throws {
        let bench = JournalBench(.full)
        try bench.begin()
        try bench.journal.store(.sample(3, bytes: bytes))
        #expect(try bench.journal.snapshot(JournalSnapshot.sample(3).entry) == .sample(3, bytes: bytes))
        bench.journal.close()
    }

    @Test func `A snapshot's file is stored also after the folder of the snapshots was removed`() throws {
        let bench = JournalBench(.full)
        try bench.begin()
        try bench.journal.append([.sample(1)])
        try FileManager.default.removeItem(atPath: bench.path + "/snapshots")
        try bench.journal.store(.sample(1))
        #expect(try bench.reopened()?.last == JournalSequence(1))
        #expect(try bench.journal.snapshots() == [JournalSnapshot.sample(0).entry, JournalSnapshot.sample(1).entry])
        #expect(try bench.journal.snapshot(JournalSnapshot.sample(1).entry) == .sample(1))
        bench.journal.close()
    }
}
