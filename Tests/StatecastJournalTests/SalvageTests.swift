import Foundation
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

@Suite struct `Salvaging a journal` {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func salvage(
        _ journal: CounterJournal,
        to target: NewPath,
        store: String? = nil
    ) throws -> JournalSalvage {
        let before = try files(of: journal.path)
        defer { #expect((try? files(of: journal.path)) == before, "the damaged journal was changed") }
        let store = try store.map { try StoreName($0) }
        return try JournalSalvage.salvage(journal.path, to: target.path, store: store, begun: Self.now)
    }

    /// The content of a salvaged journal as a primary reads it.
    private func state(at target: NewPath) throws -> Value {
        let journal = SQLiteJournal(at: target.path)
        let contents = try #require(try journal.open())
        #expect(contents.identity.lineage != JournalIdentity.sample.lineage)
        #expect(contents.identity.store == JournalIdentity.sample.store)
        journal.close()
        let reader = try JournalReader(at: target.path)
        _ = try reader.verify()
        return try reader.walk(to: Revision(.max)).tree
    }

    private func count(after batch: UInt64) -> Value {
        ["count": Value(CounterJournal.revision(after: batch).rawValue)]
    }

    @Test func `Salvaging a journal keeps the records before the damage, and names the lost ones`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5])
        journal.bench.journal.close()
        try journal.bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 12")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try state(at: target) == count(after: 11))
        #expect(saved.copy.from.revision == Revision(0))
        #expect(saved.copy.to.revision == CounterJournal.revision(after: 11))
        #expect(saved.acknowledged == CounterJournal.revision(after: 20))
        let last = CounterJournal.revision(after: 11)
        #expect(saved.damage == "from revision \(last.next) on: record 12 has a wrong checksum")
        #expect(saved.lostHistory == nil)
    }

    @Test func `Salvaging a journal continues from a snapshot after the damage`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5, 15])
        journal.bench.journal.close()
        try journal.bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 12")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try state(at: target) == count(after: 20))
        #expect(saved.copy.from.sequence == JournalSequence(15))
        #expect(saved.lostHistory == Revision(0))
        #expect(saved.damage == nil)
    }

    @Test func `Salvaging a journal keeps the records in the database if the log is missing`() throws {
        let journal = try CounterJournal.with(batches: 10, snapshots: [5])
        let stored = try journal.bench.reopened()
        #expect(stored?.last == JournalSequence(10))
        for _ in 0..<5 { try journal.append() }
        let crashed = try journal.bench.crashed()
        try FileManager.default.removeItem(atPath: crashed.path + "/journal.sqlite-wal")
        let target = NewPath()
        let saved = try JournalSalvage.salvage(crashed.path, to: target.path, store: nil, begun: Self.now)
        #expect(try state(at: target) == count(after: 10))
        #expect(saved.acknowledged == CounterJournal.revision(after: 15))
    }

    @Test func `Salvaging without records keeps the newest snapshot, and asks for the store's name`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5, 15])
        journal.bench.journal.close()
        try Data("nothing".utf8).write(to: URL(filePath: journal.path + "/journal.sqlite"))
        let marks = URL(filePath: journal.path + "/marks")
        let page = try Data(contentsOf: marks)
        // The commit mark file names the store, too.
        try (page.prefix(1024) + Data(count: page.count - 1024)).write(to: marks)
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.message.contains("--store") == true)
        #expect(!target.exists)
        let saved = try salvage(journal, to: target, store: "sample")
        #expect(try state(at: target) == count(after: 15))
        #expect(saved.acknowledged == CounterJournal.revision(after: 20))
        #expect(saved.damage != nil)
    }

    @Test(arguments: [true, false])
    func `Salvaging without a readable database keeps the newest snapshot, also without marks`(hasMarks: Bool) throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5, 15])
        journal.bench.journal.close()
        let database = URL(filePath: journal.path + "/journal.sqlite")
        // All other pages are reached from the first one.
        try (Data(count: 16 << 10) + Data(contentsOf: database).dropFirst(16 << 10)).write(to: database)
        if !hasMarks { try FileManager.default.removeItem(atPath: journal.path + "/marks") }
        let target = NewPath()
        let saved = try salvage(journal, to: target, store: hasMarks ? nil : "sample")
        #expect(try state(at: target) == count(after: 15))
        #expect(saved.copy.to.revision == CounterJournal.revision(after: 15))
        #expect(saved.acknowledged == (hasMarks ? CounterJournal.revision(after: 20) : nil))
        #expect(saved.damage != nil)
        #expect(saved.lostHistory == Revision(0))
    }

    @Test func `Salvaging a journal does not need the commit mark file`() throws {
        let journal = try CounterJournal.with(batches: 20)
        journal.bench.journal.close()
        try FileManager.default.removeItem(atPath: journal.path + "/marks")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try state(at: target) == count(after: 20))
        #expect(saved.acknowledged == nil)
    }

    @Test func `Salvaging a journal fails if no snapshot can be read`() throws {
        let journal = try CounterJournal.with(batches: 20)
        journal.bench.journal.close()
        try FileManager.default.removeItem(atPath: journal.path + "/snapshots/0-0.snapshot")
        try journal.bench.sql("DELETE FROM origin")
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.message.contains("cannot be salvaged") == true)
        #expect(!target.exists)
    }

    @Test func `Salvaging a journal is refused while a primary has the journal`() throws {
        let journal = try CounterJournal.with(batches: 20)
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.code == .inUse)
        #expect(!target.exists)
    }

    @Test func `Salvaging a journal of a missing journal is refused, and leaves no files`() throws {
        let (empty, target) = (NewPath(), NewPath())
        for _ in 0..<2 {
            let failure = #expect(throws: JournalFailure.self) {
                try JournalSalvage.salvage(empty.path, to: target.path, store: nil, begun: Self.now)
            }
            #expect(failure?.message == "there is no journal in \(empty.path): it has no journal.sqlite")
            if !empty.exists {
                try FileManager.default.createDirectory(atPath: empty.path, withIntermediateDirectories: true)
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: empty.path) == [])
    }
}

/// A snapshot is trusted if its checksum is right and no record contradicts it.
@Suite struct `Salvaging contradictory snapshots and records` {
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

    @Test func `Salvaging leaves out a snapshot that contradicts intact records`() throws {
        let journal = try CounterJournal.with(batches: 4, snapshots: [2])
        try journal.storeSnapshot(of: Self.wrong)
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try count(at: target) == journal.tree)
        #expect(saved.contradicted == [CounterJournal.revision(after: 4)])
        #expect(saved.damage == nil)
        #expect(try JournalReader(at: target.path).snapshots().map(\.sequence.rawValue) == [0, 2])
    }

    @Test func `Salvaging does not begin after the damage with a snapshot that contradicts intact records`() throws {
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

    @Test func `Salvaging does not use a snapshot after the last acknowledged record`() throws {
        let journal = try CounterJournal.with(batches: 4)
        let beyond = try CounterJournal.with(batches: 6, snapshots: [6])
        let name = "snapshots/6-\(CounterJournal.revision(after: 6)).snapshot"
        try FileManager.default.copyItem(atPath: "\(beyond.path)/\(name)", toPath: "\(journal.path)/\(name)")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(saved.copy.to.revision == CounterJournal.revision(after: 4))
        #expect(saved.contradicted == [CounterJournal.revision(after: 6)])
    }

    @Test
    func `Salvaging contradictory snapshots and records uses the records if the oldest snapshot is wrong`() throws {
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

    @Test func `Salvaging with marks of another history reports the acknowledged revision as unknown`() throws {
        let journal = try CounterJournal.with(batches: 4)
        journal.bench.journal.close()
        let url = URL(filePath: journal.path + "/marks")
        var marks = try Data(contentsOf: url)
        marks[8] ^= 1
        try marks.write(to: url)
        #expect(try salvage(journal, to: NewPath()).acknowledged == nil)
    }

    @Test func `Salvaging contradictory snapshots and records refuses an incomplete copy`() throws {
        let journal = try CounterJournal.with(batches: 4)
        journal.bench.journal.close()
        try CommitMarkFile(JournalDirectory(path: journal.path)).begin(as: .unfinished)
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.message.contains("is an incomplete copy") == true, "\(String(describing: failure))")
        #expect(!target.exists)
    }
}
