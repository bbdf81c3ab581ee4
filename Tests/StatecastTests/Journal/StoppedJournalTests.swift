import Foundation
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import Testing

@testable import Statecast

/// The journal after a stop, and its recovery at the next start.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `Stopping a primary with a journal` {
    @Test
    func `Stopping a primary with a journal stores a snapshot, which replaces that of the last stop`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        for start in 1...5 {
            let log = EventLog()
            let primary = try Primary.diary(SQLiteJournal(at: path), log: log)
            try await primary.start()
            for number in 1...3 { try await primary.send(Written(line: "\(start).\(number)")) }
            await primary.stop()
            let snapshots = try JournalReader(at: path).snapshots().map(\.revision.rawValue)
            #expect(snapshots == [0, UInt64(3 * start)])
            let notices = log.events.filter { $0.hasPrefix("notice: ") }
            #expect(notices.count == 2)
            let began = try #require(notices.first)
            if start == 1 {
                #expect(began.hasPrefix("notice: started a new history durability=full epoch=1 journal=\(path) "))
            } else {
                // Nothing is left to replay.
                let snapshot = 3 * (start - 1)
                #expect(began.hasPrefix("notice: started durability=full epoch=\(start) journal=\(path) milliseconds="))
                #expect(began.hasSuffix(" replayed=0 revision=\(snapshot) snapshot=\(snapshot) store=diary"))
            }
            #expect(notices.last == "notice: stopped epoch=\(start) revision=\(3 * start) store=diary")
        }
        let found = try JournalReader(at: path).verify()
        #expect(found.to.revision == Revision(15))
        #expect(found.snapshotCount == 2)
    }

    @Test func `Stopping a primary with a journal without new records stores no further snapshot`() async throws {
        let journal = MemoryJournal()
        for _ in 0..<3 {
            let primary = try Primary.diary(journal)
            try await primary.start()
            await primary.stop()
        }
        #expect(try journal.snapshots().map(\.revision) == [Revision(0)])
    }

    @Test func `Stopping a primary with a journal removes no history`() async throws {
        let journal = MemoryJournal()
        var configuration = PrimaryConfiguration.quick
        configuration.journal.snapshotRecords = 2
        configuration.journal.historyBytes = 0
        let primary = try Primary.diary(journal, configuration)
        try await primary.start()
        for number in 1...3 { try await primary.send(Written(line: "\(number)")) }
        await primary.stop()
        #expect(try journal.snapshots().map(\.revision.rawValue) == [0, 2, 3])
    }

    @Test
    func `Stopping a primary makes its next start independent of the records and any one snapshot`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let first = try Primary.diary(SQLiteJournal(at: path))
        try await first.start()
        for number in 1...3 { try await first.send(Written(line: "\(number)")) }
        await first.stop()
        for (lost, passedOver) in [("3-3.interim.snapshot", 1), ("0-0.snapshot", 0)] {
            let copy = folder.path + "/without \(lost)"
            try FileManager.default.copyItem(atPath: path, toPath: copy)
            try Data("nothing".utf8).write(to: URL(filePath: "\(copy)/snapshots/\(lost)"))
            let log = EventLog()
            let second = try Primary.diary(SQLiteJournal(at: copy), log: log)
            try await second.start()
            #expect(second.state.lines == ["1", "2", "3"])
            await second.stop()
            #expect(log.events.filter { $0.hasPrefix("warning: a snapshot is passed over") }.count == passedOver)
        }
    }

    @Test
    func `Stopping a primary with a journal and starting again restores the first snapshot's file`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let first = try Primary.diary(SQLiteJournal(at: path))
        try await first.start()
        for number in 1...3 { try await first.send(Written(line: "\(number)")) }
        // As after a kill: without a snapshot of the stop.
        let copy = folder.path + "/copy"
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        await first.stop()
        try FileManager.default.removeItem(atPath: copy + "/snapshots/0-0.snapshot")
        let log = EventLog()
        let second = try Primary.diary(SQLiteJournal(at: copy), log: log)
        try await second.start()
        #expect(second.state.lines == ["1", "2", "3"])
        #expect(FileManager.default.fileExists(atPath: copy + "/snapshots/0-0.snapshot"))
        await second.stop()
        #expect(log.events.contains { $0.contains("replayed=3 revision=3 snapshot=0") }, "\(log.events)")
        _ = try JournalReader(at: copy).verify()
    }

    /// A journal with the beginning of a history only.
    private static func begun(at path: String, context: [UInt8]) throws {
        let journal = SQLiteJournal(at: path)
        _ = try journal.open()
        let identity = JournalIdentity(
            store: try StoreName("diary"),
            lineage: Lineage(bits: 7),
            begun: Timestamp(milliseconds: 0)
        )
        let entry = SnapshotEntry(sequence: JournalSequence(0), revision: Revision(0))
        try journal.begin(identity, from: JournalSnapshot(entry, context: context, state: [0xFF]))
        journal.close()
    }

    private static func expectRefusal(at path: String) async {
        let log = EventLog()
        let error = await #expect(throws: StatecastError.self) {
            try await Primary.diary(SQLiteJournal(at: path), log: log).start()
        }
        #expect(error?.code == .journal)
        #expect((error?.cause as? JournalFailure)?.code == .damaged, "\(String(describing: error))")
        // A thrown failure is not logged.
        #expect(log.events == [])
    }

    @Test func `a start without an intact snapshot reports each failure once`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let mark = Array("a text that is nowhere else".utf8)
        try Self.begun(at: path, context: mark)
        for file in ["snapshots/0-0.snapshot", "journal.sqlite"] {
            let url = URL(filePath: "\(path)/\(file)")
            var data = try Data(contentsOf: url)
            let place = try #require(data.range(of: Data(mark)), "\(file)")
            data[place.lowerBound] ^= 1
            try data.write(to: url)
        }
        await Self.expectRefusal(at: path)
    }

    @Test func `a start that cannot decode an intact record reports the journal as damaged`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        try Self.begun(at: path, context: [0xFF])
        await Self.expectRefusal(at: path)
    }
}

/// A primary whose journal's directory is removed, or replaced, while it runs.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A primary whose journal is removed or replaced` {
    /// Waits for the end of the primary, and checks the failure.
    private func expectEnd(_ running: Task<Void, any Error>, _ path: String) async {
        let error = await #expect(throws: StatecastError.self) { try await running.value }
        #expect(error?.code == .journal)
        #expect((error?.cause as? JournalFailure)?.code == .removed)
        #expect(error?.message.hasPrefix("the journal \(path) was removed or replaced while it was in use: ") == true)
        #expect(error?.message.contains("\n") == false)
    }

    @Test(arguments: Durability.allCases)
    func `A primary whose journal is removed or replaced acknowledges nothing, and ends with a message`(
        durability: Durability
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let log = EventLog()
        let primary = try Primary.diary(SQLiteJournal(at: path, durability: durability), log: log)
        let address = try await primary.start()
        let running = Task { try await primary.run() }
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        try await sender.send(Written(line: "1"))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        let late = try await sender.submit(Written(line: "2"))
        // Its outcome is unknown, or the primary was stopped before it was reduced: it is not applied.
        await #expect(throws: Rejection.self) { try await primary.send(Written(line: "3")) }
        await expectEnd(running, path)
        #expect(primary.state.lines == ["1"])
        await sender.close()
        await #expect(throws: Rejection.self) { try await late.receipt() }
        #expect(!log.events.contains { $0.hasPrefix("error") || $0.hasPrefix("critical") }, "\(log.events)")
        // The acknowledged records are in the moved directory.
        let again = try Primary.diary(SQLiteJournal(at: path + ".aside"))
        try await again.start()
        #expect(again.state.lines.first == "1")
        await again.stop()
    }

    @Test func `A primary whose journal is removed or replaced ends also without any action`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let primary = try Primary.diary(SQLiteJournal(at: path))
        try await primary.start()
        let running = Task { try await primary.run() }
        try FileManager.default.removeItem(atPath: path)
        await expectEnd(running, path)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `A primary whose journal is replaced does not continue while another primary uses it`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let first = try Primary.diary(SQLiteJournal(at: path))
        try await first.start()
        let running = Task { try await first.run() }
        try await first.send(Written(line: "1"))
        try FileManager.default.removeItem(atPath: path)
        let second = try Primary.diary(SQLiteJournal(at: path))
        try await second.start()
        await expectEnd(running, path)
        try await second.send(Written(line: "other"))
        await second.stop()
        #expect(try JournalReader(at: path).verify().to.revision == Revision(1))
    }
}
