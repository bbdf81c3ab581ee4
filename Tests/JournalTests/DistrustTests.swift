import Foundation
import Journal
import SQLiteJournal
import StateCoding
import StateCore
import SyncProtocol
import Testing

@testable import SQLiteJournal

/// A snapshot is as good as its checksum, unless records say otherwise.
@Suite struct `Salvaging where snapshots and records disagree` {
    private static let wrong: Value = ["count": 1_000_000, "other": true]

    private func salvage(_ journal: CounterJournal, to target: NewPath) throws -> JournalSalvage {
        journal.bench.journal.close()
        let begun = Timestamp(milliseconds: 1_800_000_000_000)
        let saved = try JournalSalvage.salvage(journal.path, to: target.path, store: nil, begun: begun)
        _ = try JournalReader(at: target.path).verify()
        return saved
    }

    private func count(at target: NewPath) throws -> Value {
        try JournalReader(at: target.path).walk(to: Revision(.max)).tree
    }

    @Test func `leaves out a snapshot to which whole records do not lead`() throws {
        let journal = try CounterJournal.with(batches: 4, snapshots: [2])
        try journal.storeSnapshot(of: Self.wrong)
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try count(at: target) == journal.tree)
        #expect(saved.contradicted == [CounterJournal.revision(after: 4)])
        #expect(saved.damage == nil)
        #expect(try JournalReader(at: target.path).snapshots().map(\.sequence.rawValue) == [0, 2])
    }

    @Test func `does not begin behind the damage with one from which whole records do not lead on`() throws {
        let journal = try CounterJournal.with(batches: 5)
        try journal.storeSnapshot(of: Self.wrong)
        for _ in 0..<3 { try journal.append() }
        try journal.bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 4")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(saved.copy.to.revision == CounterJournal.revision(after: 3))
        #expect(saved.contradicted == [CounterJournal.revision(after: 5)])
        #expect(saved.acknowledged == CounterJournal.revision(after: 8))
        #expect(saved.damage == "from revision 5 on: record 4 has a wrong checksum")
        #expect(try JournalReader(at: target.path).snapshots().count == 1)
    }

    @Test func `does not go on to one behind the end of all that was acknowledged`() throws {
        let journal = try CounterJournal.with(batches: 4)
        let beyond = try CounterJournal.with(batches: 6, snapshots: [6])
        let name = "snapshots/6-\(CounterJournal.revision(after: 6)).snapshot"
        try FileManager.default.copyItem(atPath: "\(beyond.path)/\(name)", toPath: "\(journal.path)/\(name)")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(saved.copy.to.revision == CounterJournal.revision(after: 4))
        #expect(saved.contradicted == [CounterJournal.revision(after: 6)])
    }

    @Test func `takes the records where the oldest snapshot is the wrong one`() throws {
        let journal = try CounterJournal()
        try journal.storeSnapshot(of: Self.wrong)
        for _ in 0..<2 { try journal.append() }
        try journal.storeSnapshot()
        try journal.append()
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try count(at: target) == journal.tree)
        #expect(saved.copy.from.sequence == JournalSequence(2))
        #expect(saved.lostHistory == Revision(0))
    }

    @Test func `says that it cannot know what was acknowledged, where the marks are another history's`() throws {
        let journal = try CounterJournal.with(batches: 4)
        journal.bench.journal.close()
        let url = URL(filePath: journal.path + "/marks")
        var marks = try Data(contentsOf: url)
        marks[8] ^= 1
        try marks.write(to: url)
        #expect(try salvage(journal, to: NewPath()).acknowledged == nil)
    }

    @Test func `refuses a copy that was not finished`() throws {
        let journal = try CounterJournal.with(batches: 4)
        journal.bench.journal.close()
        try MarkPage(JournalDirectory(path: journal.path)).begin(as: .unfinished)
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.message.contains("was not copied to its end") == true, "\(String(describing: failure))")
        #expect(!target.exists)
    }
}
