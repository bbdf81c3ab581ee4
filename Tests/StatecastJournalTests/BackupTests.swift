import Dispatch
import Foundation
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading
import Testing

@testable import StatecastSQLite
@testable import StatecastTesting

@Suite struct `A backup of a journal` {
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    @Test func `A backup of a journal is intact if a primary writes during the copy`() throws {
        let journal = try CounterJournal.with(batches: 50, snapshots: [20])
        let records = try (0..<2000).map { _ in try journal.nextRecord() }
        let writing = journal.bench.journal
        let copies = (0..<5).map { _ in NewPath() }
        let writer = DispatchQueue(label: "writer")
        let failures = Locked<[String]>([])
        defer { writer.sync {} }
        writer.async {
            do { for record in records { try writing.append([record]) } } catch {
                failures.withLock { $0.append("\(error)") }
            }
        }
        for copy in copies {
            let reader = try JournalReader(at: journal.path)
            let made = try reader.backup(to: copy.path)
            let found = try JournalReader(at: copy.path).verify()
            #expect(found.to == made.to)
            #expect(found.to.sequence >= JournalSequence(50))
            #expect(found.snapshotCount == 2)
            #expect(try JournalReader(at: copy.path).contents().identity == .sample)
        }
        writer.sync {}
        #expect(failures.withLock { $0 } == [])
        #expect(try JournalReader(at: journal.path).verify().to.sequence == JournalSequence(2050))
    }

    @Test func `A backup of a journal is refused by a primary with the command that restores it`() throws {
        let journal = try CounterJournal.with(batches: 5)
        let copy = NewPath()
        _ = try JournalReader(at: journal.path).backup(to: copy.path)
        let failure = #expect(throws: JournalFailure.self) { try SQLiteJournal(at: copy.path).open() }
        #expect(failure?.code == .misfit)
        #expect(failure?.message.contains("statecast-journal restore \(copy.path) NEW-DIRECTORY") == true)
    }

    @Test func `A backup of a journal becomes a journal with the same content and a new lineage`() throws {
        let journal = try CounterJournal.with(batches: 30, snapshots: [10, 20])
        let everything = try journal.bench.dump()
        let (copy, target) = (NewPath(), NewPath())
        _ = try JournalReader(at: journal.path).backup(to: copy.path)
        let restored = try JournalReader(at: copy.path).restore(to: target.path, begun: Self.now)
        let bench = JournalBench(.full, at: target.path)
        let contents = try #require(try bench.journal.open())
        #expect(contents.identity == restored.identity)
        #expect(contents.identity.lineage != JournalIdentity.sample.lineage)
        #expect(contents.identity.store == JournalIdentity.sample.store)
        #expect(contents.identity.begun == Self.now)
        #expect(contents.epochs == [.sample(1, at: 0)])
        #expect(contents.last == JournalSequence(30))
        #expect(try bench.dump() == everything)
        try bench.journal.claim(.sample(2, at: restored.to.revision.rawValue))
        try bench.journal.append([journal.nextRecord()])
        bench.journal.close()
        #expect(try JournalReader(at: target.path).verify().to.sequence == JournalSequence(31))
    }

    @Test(arguments: [
        ("DELETE FROM record WHERE sequence = 5", "acknowledged at revision"),
        ("DELETE FROM epoch", "has epochs up to 0, and 1 was claimed"),
    ])
    func `A backup of a journal becomes a journal that reports the lost rows`(loss: String, message: String) throws {
        let journal = try CounterJournal.with(batches: 5)
        let target = NewPath()
        _ = try JournalReader(at: journal.path).restore(to: target.path, begun: Self.now)
        let bench = JournalBench(.full, at: target.path)
        try bench.sql(loss)
        let failure = #expect(throws: JournalFailure.self) { try bench.journal.open() }
        #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
    }

    @Test func `A backup of a journal that is incomplete is refused by primaries and readers`() throws {
        let journal = try CounterJournal.with(batches: 5)
        let (copy, target) = (NewPath(), NewPath())
        _ = try JournalReader(at: journal.path).backup(to: copy.path)
        try CommitMarkFile(JournalDirectory(path: copy.path)).begin(as: .unfinished)
        #expect(try JournalReader.info(at: copy.path).purpose == .unfinished)
        for failure in [
            #expect(throws: JournalFailure.self) { try SQLiteJournal(at: copy.path).open() },
            #expect(throws: JournalFailure.self) { try JournalReader(at: copy.path) },
            #expect(throws: JournalFailure.self) {
                try JournalSalvage.salvage(copy.path, to: target.path, store: nil, begun: Self.now)
            },
        ] {
            #expect(failure?.message.contains("is an incomplete copy") == true, "\(String(describing: failure))")
        }
        #expect(!target.exists)
    }

    @Test func `A backup of a journal does not overwrite files`() throws {
        let journal = try CounterJournal.with(batches: 5)
        let other = try CounterJournal.with(batches: 3)
        other.bench.journal.close()
        let before = try files(of: other.path)
        let failure = #expect(throws: JournalFailure.self) {
            try JournalReader(at: journal.path).backup(to: other.path)
        }
        #expect(failure?.message.contains("\(other.path) exists and is not empty") == true)
        #expect(try files(of: other.path) == before)
    }

    @Test func `A backup of a journal of a damaged journal leaves no files`() throws {
        let journal = try CounterJournal.with(batches: 20)
        journal.bench.journal.close()
        try journal.bench.sql("UPDATE record SET checksum = 0 WHERE sequence = 12")
        let copy = NewPath()
        let failure = #expect(throws: JournalFailure.self) { try JournalReader(at: journal.path).backup(to: copy.path) }
        #expect(failure?.message.contains("record 12 has a wrong checksum") == true, "\(String(describing: failure))")
        #expect(!copy.exists)
    }

    @Test func `A backup of a journal to one directory by two processes leaves one intact backup`() async throws {
        let source = try CounterJournal.with(batches: 40, snapshots: [20])
        source.bench.journal.close()
        let target = NewPath()
        let copied = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask { [path = source.path, target = target.path] in
                    do {
                        _ = try JournalReader(at: path).backup(to: target)
                        return true
                    } catch let failure as JournalFailure where [.inUse, .inputOutput].contains(failure.code) {
                        return false
                    }
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(copied == 1)
        #expect(try JournalReader(at: target.path).verify().to.revision == CounterJournal.revision(after: 40))
    }
}
