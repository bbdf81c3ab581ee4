import Foundation
import Journal
import SQLiteJournal
import StateCore
import SyncProtocol
import Testing

@testable import StatecastTesting

@Suite struct `An archive of a journal` {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func archive(_ journal: CounterJournal) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try JournalArchive.export(JournalReader(at: journal.path)) { bytes += $0 }
        return bytes
    }

    /// Returns the bytes in pieces.
    private func load(_ bytes: [UInt8], to path: String, piece: Int = 1000) throws -> JournalCopy {
        var rest = bytes[...]
        return try JournalArchive.import(to: path, begun: Self.now) {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(piece) }
            return Array(rest.prefix(piece))
        }
    }

    @Test(arguments: [1, 7, 1 << 20])
    func `becomes a journal with the same content and a new lineage`(piece: Int) throws {
        let journal = try CounterJournal.with(batches: 600, snapshots: [10, 599, 600])
        let target = NewPath()
        let copy = try load(try archive(journal), to: target.path, piece: piece)
        #expect(copy.to.sequence == JournalSequence(600))
        let bench = JournalBench(.full, at: target.path)
        let contents = try #require(try bench.journal.open())
        #expect(contents.identity == copy.identity)
        #expect(contents.identity.lineage != JournalIdentity.sample.lineage)
        #expect(contents.epochs == [.sample(1, at: 0)])
        #expect(try bench.dump() == journal.bench.dump())
        bench.journal.close()
        #expect(try JournalReader(at: target.path).verify().snapshotCount == 4)
    }

    @Test func `that is truncated anywhere is refused, and leaves no files`() throws {
        let bytes = try archive(try CounterJournal.with(batches: 3, snapshots: [2]))
        for count in 0..<bytes.count {
            let target = NewPath()
            let failure = #expect(throws: JournalFailure.self, "cut to \(count)") {
                try load(Array(bytes.prefix(count)), to: target.path)
            }
            #expect(failure?.code == .damaged)
            #expect(!target.exists)
        }
    }

    @Test func `with any byte changed is refused, and leaves no files`() throws {
        let bytes = try archive(try CounterJournal.with(batches: 3, snapshots: [2]))
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x10
            let target = NewPath()
            #expect(throws: JournalFailure.self, "byte \(index)") { try load(changed, to: target.path) }
            #expect(!target.exists)
        }
    }

    @Test func `with bytes after its end is refused`() throws {
        let bytes = try archive(try CounterJournal.with(batches: 3))
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try load(bytes + [0], to: target.path) }
        #expect(failure?.message.contains("it follows the end") == true)
        #expect(!target.exists)
    }
}
