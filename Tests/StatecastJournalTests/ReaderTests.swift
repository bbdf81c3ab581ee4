import Foundation
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@Suite struct `A reader of a journal` {
    @Test func `A reader of a journal sees what its primary appends, and changes nothing`() throws {
        let journal = try CounterJournal.with(batches: 6, snapshots: [4])
        let before = try files(of: journal.path)
        let reader = try JournalReader(at: journal.path)
        #expect(try reader.info().last.revision == CounterJournal.revision(after: 6))
        #expect(try reader.walk(to: Revision(.max)).tree == journal.tree)
        _ = try reader.verify()
        #expect(try files(of: journal.path) == before)
        try journal.append()
        #expect(try reader.info().last.revision == CounterJournal.revision(after: 7))
        #expect(try reader.info().acknowledged?.revision == CounterJournal.revision(after: 7))
        #expect(try reader.walk(to: Revision(.max)).tree == journal.tree)
    }

    @Test func `A reader of a journal does not change a closed journal`() throws {
        let journal = try CounterJournal.with(batches: 6, snapshots: [4])
        journal.bench.journal.close()
        let before = try files(of: journal.path)
        do {
            let reader = try JournalReader(at: journal.path)
            _ = try reader.verify()
        }
        #expect(try files(of: journal.path) == before)
        #expect(try journal.bench.reopened()?.last == JournalSequence(6))
    }

    @Test func `A reader of a journal does not change a journal after a crash`() throws {
        let journal = try CounterJournal.with(batches: 6, snapshots: [4])
        let copy = try journal.bench.crashed()
        let before = try files(of: copy.path)
        #expect(before["journal.sqlite-wal"] != nil)
        do {
            let reader = try JournalReader(at: copy.path)
            _ = try reader.verify()
        }
        #expect(try files(of: copy.path) == before)
    }

    @Test func `A reader of a journal names the process that writes the journal`() throws {
        let journal = try CounterJournal()
        let reader = try JournalReader(at: journal.path)
        #expect(reader.holder?.contains("process \(getpid())") == true)
        journal.bench.journal.close()
        #expect(reader.holder == nil)
    }

    @Test func `A reader of a journal replays to the last batch boundary at or before a revision`() throws {
        let journal = try CounterJournal.with(batches: 9, snapshots: [3, 6])
        let reader = try JournalReader(at: journal.path)
        let boundaries = Set((0...9).map { $0 == 0 ? Revision(0) : CounterJournal.revision(after: $0) })
        for revision in 0...CounterJournal.revision(after: 9).rawValue {
            let walk = try reader.walk(to: Revision(revision))
            #expect(walk.place.revision == boundaries.filter { $0.rawValue <= revision }.max())
            #expect(walk.tree == ["count": Value(walk.place.revision.rawValue)])
        }
    }

    @Test func `A reader of a journal finds the last record that ends at or before a revision`() throws {
        let journal = try CounterJournal.with(batches: 9, snapshots: [3, 6, 8])
        let reader = try JournalReader(at: journal.path)
        let ends = (0...9).map { $0 == 0 ? Revision(0) : CounterJournal.revision(after: $0) }
        func sequence(at revision: UInt64) -> JournalSequence {
            JournalSequence(UInt64(ends.count { $0.rawValue <= revision } - 1))
        }
        let last = ends[9].rawValue + 2
        for revision in 0...last { #expect(try reader.sequence(at: Revision(revision)) == sequence(at: revision)) }
        try journal.bench.journal.prune(keeping: 0)
        for revision in 0...last {
            let isKept = revision >= ends[6].rawValue
            #expect(try reader.sequence(at: Revision(revision)) == (isKept ? sequence(at: revision) : nil))
        }
    }

    @Test func `A reader of a journal cannot replay to a pruned revision`() throws {
        let journal = try CounterJournal.with(batches: 9, snapshots: [3, 6, 8])
        try journal.bench.journal.prune(keeping: 0)
        let reader = try JournalReader(at: journal.path)
        let oldest = CounterJournal.revision(after: 6)
        #expect(try reader.walk(to: oldest).place.revision == oldest)
        try reader.requireKept(oldest)
        let before = Revision(oldest.rawValue - 1)
        for failure in [
            #expect(throws: JournalFailure.self) { try reader.walk(to: before) },
            #expect(throws: JournalFailure.self) { try reader.requireKept(before) },
        ] {
            #expect(failure?.code == .pruned)
            #expect(failure?.message.contains("begins at revision \(oldest)") == true)
        }
        #expect(try reader.verify().from.revision == oldest)
    }

    @Test func `A reader of a journal skips a snapshot whose records were pruned`() throws {
        let journal = try CounterJournal.with(batches: 9, snapshots: [3, 6, 8])
        // Pruning ended between the records and the snapshot.
        journal.bench.journal.close()
        try journal.bench.sql("DELETE FROM record WHERE sequence <= 5")
        let reader = try JournalReader(at: journal.path)
        #expect(try reader.snapshots().map(\.sequence) == [JournalSequence(6), JournalSequence(8)])
        #expect(try reader.verify().from.sequence == JournalSequence(6))
    }

    @Test func `A reader of a journal reports that there is no journal`() throws {
        let nowhere = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try JournalReader(at: nowhere.path) }
        #expect(failure?.message.contains("there is no journal in \(nowhere.path)") == true)
        #expect(!nowhere.exists)
    }
}
