import Foundation
import Journal
import SQLiteJournal
import StateCore
import Statecast
import SyncProtocol
import Testing

/// A primary whose journal's directory is removed, or replaced, while it runs.
@Suite(.timeLimit(.minutes(10))) struct `A primary whose journal is removed or replaced` {
    /// Ends it, and checks how.
    private func expectEnd(_ running: Task<Void, any Error>, _ path: String) async {
        let error = await #expect(throws: StatecastError.self) { try await running.value }
        #expect(error?.code == .journal)
        #expect((error?.cause as? JournalFailure)?.code == .removed)
        #expect(error?.message.hasPrefix("the journal \(path) was removed or replaced while it was in use: ") == true)
        #expect(error?.message.contains("\n") == false)
    }

    @Test(arguments: Durability.allCases)
    func `acknowledges nothing any more, and ends with a line`(durability: Durability) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let log = EventLog()
        let primary = try Primary.diary(SQLiteJournal(at: path, durability: durability), log: log)
        let address = try await primary.start()
        let running = Task { try await primary.run() }
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick)
        try await sender.send(Written(line: "1"))
        try FileManager.default.moveItem(atPath: path, toPath: path + ".aside")
        let late = try await sender.submit(Written(line: "2"))
        // Its outcome is unknown, or the primary was stopped before its turn: it is not applied.
        await #expect(throws: Rejection.self) { try await primary.send(Written(line: "3")) }
        await expectEnd(running, path)
        #expect(primary.state.lines == ["1"])
        await sender.close()
        await #expect(throws: Rejection.self) { try await late.receipt() }
        #expect(!log.events.contains { $0.hasPrefix("error") || $0.hasPrefix("critical") }, "\(log.events)")
        // What was acknowledged is where the directory is now.
        let again = try Primary.diary(SQLiteJournal(at: path + ".aside"))
        try await again.start()
        #expect(again.state.lines.first == "1")
        await again.stop()
    }

    @Test func `ends also without any action`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/journal"
        let primary = try Primary.diary(SQLiteJournal(at: path))
        try await primary.start()
        let running = Task { try await primary.run() }
        try FileManager.default.removeItem(atPath: path)
        await expectEnd(running, path)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `does not go on beside another one in its place`() async throws {
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
