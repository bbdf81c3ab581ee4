import Foundation
import Journal
import SQLiteJournal
import StateCoding
import StateCore
import SyncProtocol
import Testing

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

    /// What a primary finds where something was salvaged.
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

    @Test func `keeps what lies before the damage, and says what is lost`() throws {
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

    @Test func `goes on from a snapshot behind the damage`() throws {
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

    @Test func `keeps what is left without the log`() throws {
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

    @Test func `keeps the newest snapshot where there are no records, and asks for the store's name`() throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5, 15])
        journal.bench.journal.close()
        try Data("nothing".utf8).write(to: URL(filePath: journal.path + "/journal.sqlite"))
        let marks = URL(filePath: journal.path + "/marks")
        let page = try Data(contentsOf: marks)
        // The page of marks names the store, too.
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
    func `keeps the newest snapshot where the database cannot be opened, also without marks`(hasMarks: Bool) throws {
        let journal = try CounterJournal.with(batches: 20, snapshots: [5, 15])
        journal.bench.journal.close()
        let database = URL(filePath: journal.path + "/journal.sqlite")
        // The first page leads to all others.
        try (Data(count: 4096) + Data(contentsOf: database).dropFirst(4096)).write(to: database)
        if !hasMarks { try FileManager.default.removeItem(atPath: journal.path + "/marks") }
        let target = NewPath()
        let saved = try salvage(journal, to: target, store: hasMarks ? nil : "sample")
        #expect(try state(at: target) == count(after: 15))
        #expect(saved.copy.to.revision == CounterJournal.revision(after: 15))
        #expect(saved.acknowledged == (hasMarks ? CounterJournal.revision(after: 20) : nil))
        #expect(saved.damage != nil)
        #expect(saved.lostHistory == Revision(0))
    }

    @Test func `does without the page of marks`() throws {
        let journal = try CounterJournal.with(batches: 20)
        journal.bench.journal.close()
        try FileManager.default.removeItem(atPath: journal.path + "/marks")
        let target = NewPath()
        let saved = try salvage(journal, to: target)
        #expect(try state(at: target) == count(after: 20))
        #expect(saved.acknowledged == nil)
    }

    @Test func `has to stop where nothing can be read`() throws {
        let journal = try CounterJournal.with(batches: 20)
        journal.bench.journal.close()
        try FileManager.default.removeItem(atPath: journal.path + "/snapshots/0-0.snapshot")
        try journal.bench.sql("DELETE FROM origin")
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.message.contains("nothing can be saved") == true)
        #expect(!target.exists)
    }

    @Test func `is refused while a primary has the journal`() throws {
        let journal = try CounterJournal.with(batches: 20)
        let target = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try salvage(journal, to: target) }
        #expect(failure?.code == .inUse)
        #expect(!target.exists)
    }

    @Test func `is refused where there is nothing, and leaves nothing there`() throws {
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
