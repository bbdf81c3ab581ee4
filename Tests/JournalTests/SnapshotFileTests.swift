import Journal
import SQLiteJournal
import SyncProtocol
import Testing

@testable import StatecastTesting

@Suite struct `A snapshot's file` {
    @Test(arguments: [0, 1, 5 << 20])
    func `gives back what was written`(bytes: Int) throws {
        let bench = JournalBench(.full)
        try bench.begin()
        try bench.journal.store(.sample(3, bytes: bytes))
        #expect(try bench.journal.snapshot(JournalSnapshot.sample(3).entry) == .sample(3, bytes: bytes))
        bench.journal.close()
    }
}
