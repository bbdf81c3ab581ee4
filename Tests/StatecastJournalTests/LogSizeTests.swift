import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

/// The bound of the log's size in docs/JOURNAL.md.
@Suite(.timeLimit(.minutes(10))) struct `The log of a journal` {
    /// A page in the log has a header.
    private static let frameBytes = JournalSchema.pageBytes + 24

    private static func logBytes(of path: String) -> Int { JournalDirectory(path: path).logBytes }

    private static func record(_ sequence: UInt64, _ body: [UInt8]) -> JournalRecord {
        JournalRecord(
            sequence: JournalSequence(sequence),
            from: Revision(sequence - 1),
            to: Revision(sequence),
            body: body
        )
    }

    @Test(arguments: [40, 300_000])
    func `The log of a journal stays within its bound, however large the records are`(bytes: Int) throws {
        let bench = JournalBench(.normal)
        try bench.begin()
        let body = JournalRecord.sample(1, bytes: bytes).body
        let pagesOfCommit = bytes / JournalSchema.pageBytes + 8
        let bound = Checkpoints.maxLogBytes + pagesOfCommit * Self.frameBytes
        var (most, written, sequence) = (0, 0, 0 as UInt64)
        // Exceeds the bound, as the log consists of whole pages.
        while written < Checkpoints.maxLogBytes * 5 / 4 {
            sequence += 1
            try bench.journal.append([Self.record(sequence, body)])
            written += max(Self.frameBytes, bytes)
            most = max(most, Self.logBytes(of: bench.path))
        }
        #expect(most <= bound, "\(most) bytes")
        #expect(most > 0)
        bench.journal.close()
        #expect(Self.logBytes(of: bench.path) == 0)
    }

    @Test func `The log of a journal returns to its bound after a long read transaction`() throws {
        let place = NewPath()
        let directory = JournalDirectory(path: place.path)
        try directory.make()
        let records = try RecordStore(directory, .normal)
        try records.begin(.sample, from: .sample(0))
        let body = JournalRecord.sample(1, bytes: 1_000_000).body
        var sequence: UInt64 = 0
        func append() throws {
            sequence += 1
            try records.append([Self.record(sequence, body)])
        }
        let reader = try SQLiteConnection(directory.database, isReadOnly: true, busyTimeout: .seconds(10))
        try reader.transaction(.reading) {
            try reader.execute("SELECT max(sequence) FROM record")
            while directory.logBytes < Checkpoints.maxLogBytes * 3 / 2 { try append() }
        }
        // The background checkpoint, after more appended bytes.
        try records.checkpoint()
        try append()
        #expect(directory.logBytes <= Checkpoints.maxLogBytes)
        records.close()
    }

    @Test func `The log of a journal stays within its bound while a journal is copied`() throws {
        let count = UInt64(2 * Checkpoints.maxLogBytes / 1_000_000)
        let (target, body) = (NewPath(), JournalRecord.sample(1, bytes: 1_000_000).body)
        var most = 0
        let directory = JournalDirectory(path: target.path)
        try JournalBuilder.write(to: target.path, .sample, from: .sample(0), as: .journal) {
            draft throws(JournalFailure) in
            for sequence in 1...count {
                try draft.append([Self.record(sequence, body)])
                most = max(most, directory.logBytes)
            }
        }
        #expect(most > 0)
        #expect(most <= Checkpoints.maxLogBytes + 72 * Self.frameBytes, "\(most) bytes")
    }
}
