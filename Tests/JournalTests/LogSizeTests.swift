import Foundation
import Journal
import SQLiteJournal
import StateCore
import SyncProtocol
import Testing

@testable import SQLiteJournal
@testable import StatecastTesting

/// docs/JOURNAL.md promises a bound for the log beside the database.
@Suite(.timeLimit(.minutes(10))) struct `The log of a journal` {
    private static func logBytes(of path: String) -> Int { JournalDirectory(path: path).logBytes }

    @Test(arguments: [40, 300_000])
    func `stays within its bound, however large the records are`(bytes: Int) throws {
        let bench = JournalBench(.normal)
        try bench.begin()
        let body = JournalRecord.sample(1, bytes: bytes).body
        let pagesOfCommit = bytes / 4096 + 8
        let bound = Checkpoints.logBytesMax + pagesOfCommit * 4120
        var (most, written, sequence) = (0, 0, 0 as UInt64)
        // More than the bound, as the log counts: in whole pages.
        while written < Checkpoints.logBytesMax * 5 / 4 {
            sequence += 1
            let record = JournalRecord(
                sequence: JournalSequence(sequence),
                from: Revision(sequence - 1),
                to: Revision(sequence),
                body: body
            )
            try bench.journal.append([record])
            written += max(4120, bytes)
            most = max(most, Self.logBytes(of: bench.path))
        }
        #expect(most <= bound, "\(most) bytes")
        #expect(most > 0)
        bench.journal.close()
        #expect(Self.logBytes(of: bench.path) == 0)
    }

    @Test func `stays within its bound while a journal is copied`() throws {
        let count = UInt64(2 * Checkpoints.logBytesMax / 1_000_000)
        let target = NewPath()
        var most = 0
        let directory = JournalDirectory(path: target.path)
        try JournalDraft.write(to: target.path, .sample, from: .sample(0), as: .journal) {
            draft throws(JournalFailure) in
            for sequence in 1...count {
                try draft.append([.sample(sequence, bytes: 1_000_000)])
                most = max(most, directory.logBytes)
            }
        }
        #expect(most > 0)
        #expect(most <= Checkpoints.logBytesMax + 260 * 4120, "\(most) bytes")
    }
}
