import Journal
import StateCoding
import StateCore
import Statecast
import SyncProtocol
import Testing

/// What happens when the journal cannot be written.
@Suite(.timeLimit(.minutes(10))) struct `Without room in the journal` {
    @Test func `who waits for an action is told, and nothing is left of it`() async throws {
        let journal = FaultyJournal()
        let events = EventLog()
        let primary = try Primary.diary(journal, effect: { line, _ in .run { _ in events.add(line) } })
        try await primary.start()
        try await primary.send(Written(line: "1"))
        journal.fail(FaultyJournal.full)
        let rejection = await #expect(throws: Rejection.self) { try await primary.send(Written(line: "2")) }
        #expect(rejection?.code == .storageFull)
        #expect(primary.state.lines == ["1"])
        journal.fail(nil)
        let receipt = try await primary.sendOnceThereIsRoom(Written(line: "3"))
        #expect(receipt.position.revision == Revision(2))
        #expect(primary.state.lines == ["1", "3"])
        await primary.stop()
        #expect(!events.events.contains("2"))
    }

    @Test func `what nobody waits for is done once there is room`() async throws {
        let journal = FaultyJournal()
        let primary = try Primary.diary(journal)
        try await primary.start()
        journal.fail(FaultyJournal.full)
        for number in 1...100 { primary.dispatch(Written(line: "\(number)")) }
        _ = await #expect(throws: Rejection.self) { try await primary.send(Written(line: "refused")) }
        #expect(primary.state.lines == [])
        journal.fail(nil)
        try await primary.sendOnceThereIsRoom(Written(line: "last"))
        #expect(primary.state.lines == (1...100).map { "\($0)" } + ["last"])
        await primary.stop()
    }

    @Test func `senders wait, and nothing is lost or doubled`() async throws {
        let journal = FaultyJournal()
        let primary = try Primary.diary(journal)
        let address = try await primary.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick)
        try await sender.send(Written(line: "1"))
        journal.fail(FaultyJournal.full)
        var receipts: [PendingReceipt] = []
        for number in 2...50 { receipts.append(try await sender.submit(Written(line: "\(number)"))) }
        // The sender pauses when it is refused, and knows why.
        let refusal = Rejection(.storageFull, "the primary has no room to store actions; they wait until it has")
        for await status in sender.statuses where status == .waiting(refusal) { break }
        #expect(primary.state.lines == ["1"])
        journal.fail(nil)
        for (index, receipt) in receipts.enumerated() {
            #expect(try await receipt.receipt().position.revision == Revision(UInt64(index) + 2))
        }
        try await primary.send(Written(line: "51"))
        #expect(primary.state.lines == (1...51).map { "\($0)" })
        await sender.close()
        await primary.stop()
    }

    @Test func `a journal that is broken otherwise ends the primary, with a line that says so`() async throws {
        let journal = FaultyJournal()
        let primary = try Primary.diary(journal)
        try await primary.start()
        let running = Task { try await primary.run() }
        try await primary.send(Written(line: "1"))
        journal.fail(FaultyJournal.broken)
        primary.dispatch(Written(line: "2"))
        let error = await #expect(throws: StatecastError.self) { try await running.value }
        #expect(error?.code == .journal)
        #expect(error?.message == "the disk is broken")
        #expect(primary.state.lines == ["1"])
        journal.fail(nil)
        let second = try Primary.diary(journal)
        try await second.start()
        #expect(second.state.lines == ["1"])
        await second.stop()
    }

    @Test func `what was published before it was stored waits for room`() async throws {
        let memory = MemoryJournal(durability: .relaxed)
        let journal = FaultyJournal(memory)
        let primary = try Primary.diary(journal)
        try await primary.start()
        journal.fail(FaultyJournal.full)
        var lines: [String] = []
        let rejection = await #expect(throws: Rejection.self) {
            while true {
                try await primary.send(Written(line: "\(lines.count)"))
                lines.append("\(lines.count)")
            }
        }
        #expect(rejection?.code == .storageFull)
        #expect(!lines.isEmpty)
        #expect(primary.state.lines == lines)
        journal.fail(nil)
        try await primary.sendOnceThereIsRoom(Written(line: "last"))
        await primary.stop()
        let second = try Primary.diary(FaultyJournal(memory))
        try await second.start()
        #expect(second.state.lines == lines + ["last"])
        await second.stop()
    }

    @Test func `what was published and never stored is named at the stop`() async throws {
        let log = EventLog()
        let journal = FaultyJournal(MemoryJournal(durability: .relaxed))
        let primary = try Primary.diary(journal, log: log)
        try await primary.start()
        journal.fail(FaultyJournal.full)
        try await primary.send(Written(line: "1"))
        await primary.stop()
        let last = log.events.last
        #expect(
            last?.contains("critical: records lost that were published already: 1: there is no room") == true,
            "\(log.events)"
        )
    }

    @Test func `an action that cannot be journaled is refused`() async throws {
        struct Odd: Action {
            func encode(to encoder: any Encoder) throws { throw CodingFailure(.unencodable, "odd") }
        }
        let primary = try Primary.diary(FaultyJournal())
        try await primary.start()
        let rejection = await #expect(throws: Rejection.self) { try await primary.send(Odd()) }
        #expect(rejection?.code == .unencodable)
        #expect(rejection?.message.contains("cannot be journaled") == true)
        await primary.stop()
    }
}
