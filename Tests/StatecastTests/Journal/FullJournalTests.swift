import StatecastCoding
import StatecastCore
import StatecastJournal
import Testing

@testable import Statecast
@testable import StatecastProtocol

/// A journal that cannot be written.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A full journal` {
    @Test func `an awaited action for a full journal is rejected, and rolled back`() async throws {
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

    @Test func `a dispatched action is reduced once a full journal has room`() async throws {
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

    @Test func `senders wait for a full journal, and no action is lost or duplicated`() async throws {
        let journal = FaultyJournal()
        let primary = try Primary.diary(journal)
        let address = try await primary.start()
        let sender = try ActionSender(store: "diary", from: address.publish, configuration: .quick).started()
        try await sender.send(Written(line: "1"))
        journal.fail(FaultyJournal.full)
        var receipts: [PendingReceipt] = []
        for number in 2...50 { receipts.append(try await sender.submit(Written(line: "\(number)"))) }
        // The refused sender pauses, and reports the reason.
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

    @Test func `a stop ends although more dispatched actions wait than a turn takes`() async throws {
        let memory = MemoryJournal()
        let journal = FaultyJournal(memory)
        var configuration = PrimaryConfiguration.quick
        configuration.limits.minRetryDelay = .seconds(60)
        configuration.limits.maxRetryDelay = .seconds(60)
        let primary = try Primary.diary(journal, configuration)
        try await primary.start()
        try await primary.send(Written(line: "stored"))
        // The action is rejected at the first failure. A stop that went on to try would come to the end of them.
        journal.fail(FaultyJournal.full, count: 10)
        for _ in 0..<(3 * TurnBudget().actions) { primary.dispatch(Written(line: "")) }
        await primary.stop()
        let second = try Primary.diary(FaultyJournal(memory))
        try await second.start()
        #expect(second.state.lines == ["stored"])
        await second.stop()
    }

    @Test func `any other failure of the journal ends the primary with a message`() async throws {
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

/// Frames for a store whose journal has no room are deferred.
@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct `A journal with deferred frames` {
    /// One or two diaries on one node; the journal of the first can be blocked.
    private struct Node {
        let node: PrimaryNode
        let journal = FaultyJournal()
        let first: Primary<Diary>
        let second: Primary<Diary>?
        let address: PrimaryAddress

        init(stores: Int = 2, _ change: (inout Limits) -> Void = { _ in }) async throws {
            var configuration = PrimaryConfiguration.quick
            configuration.limits.maxUncommittedRecords = 1
            change(&configuration.limits)
            let node = try PrimaryNode(configuration: configuration)
            self.node = node
            func primary(_ name: String, _ journal: FaultyJournal?) throws -> Primary<Diary> {
                try Primary(
                    store: name,
                    state: Diary(),
                    actions: Diary.actions,
                    journal: journal,
                    on: node,
                    reducer: Diary.reducer()
                )
            }
            first = try primary("first", journal)
            second = stores == 2 ? try primary("second", nil) : nil
            address = try await node.start()
        }

        func sender(_ store: String) throws -> ActionSender {
            try ActionSender(store: store, from: address.publish, configuration: .quick).started()
        }

        /// Blocks the journal, and returns once it has no room.
        func holdJournal(_ sender: ActionSender) async throws -> PendingReceipt {
            _ = try await sender.send(Written(line: "0"))
            journal.hold(true)
            let held = try await sender.submit(Written(line: "1"))
            await journal.someoneWaits()
            return held
        }
    }

    @Test func `A journal with deferred frames blocks no other store, and loses and duplicates nothing`() async throws {
        let node = try await Node()
        let (first, second) = (try node.sender("first"), try node.sender("second"))
        var receipts = [try await node.holdJournal(first)]
        for number in 2...200 { receipts.append(try await first.submit(Written(line: "\(number)"))) }
        for number in 0..<200 { try await second.send(Written(line: "\(number)")) }
        #expect(node.first.state.lines == ["0"])
        node.journal.hold(false)
        for (index, receipt) in receipts.enumerated() {
            #expect(try await receipt.receipt().revision == Revision(UInt64(index) + 2))
        }
        #expect(try await node.first.send(Written(line: "201")).revision == Revision(202))
        #expect(node.first.state.lines == (0...201).map { "\($0)" })
        #expect(node.second?.state.lines == (0..<200).map { "\($0)" })
        await first.close()
        await second.close()
        await node.node.stop()
    }

    @Test func `one stuck store does not stop the others, and refuses only what exceeds its inbox`() async throws {
        let maxFrames = 5
        let action = try ActionTable.encode(Written(line: String(repeating: "x", count: 1000)))
        let secret = SessionSecret.random()
        let any = ActionsFrame(
            lineage: Lineage(bits: 0),
            session: secret.session,
            opened: JournalSequence(0),
            base: ActionNumber(1),
            first: ActionNumber(1),
            actions: [action]
        )
        // Numbers up to 23 are encoded as one byte.
        let message = Message.encode(any, secret, to: Address(try StoreName("first"), .actions).bytes)
        let node = try await Node { $0.maxHeldBytes = maxFrames * Inbox.bytes(ofMessage: message.count) }
        let session = try await RawSession(secret, of: try await RawPeer(node.address), store: "first")
        func send(_ number: Int) async throws { try await session.send([action], first: UInt64(number)) }
        let second = try node.sender("second")
        /// Returns once the actions from one number through another have receipts. Skips refusals.
        func receipts(from first: Int, through last: Int) async throws {
            var next = UInt64(first)
            while next <= UInt64(last) {
                guard case .receipts(let receipts) = try await session.peer.next(on: session.topic) else { continue }
                #expect(receipts.outcomes.start.rawValue == next)
                next = receipts.outcomes.end.rawValue
            }
        }
        try await send(1)
        try await receipts(from: 1, through: 1)
        // The record of number 2 is never stored, and the next ones wait.
        node.journal.hold(true)
        try await send(2)
        await node.journal.someoneWaits()
        for number in 3...(4 + maxFrames) {
            try await send(number)
            try await second.send(Written(line: "\(number)"))
        }
        // The first frame that does not fit, and nothing before.
        let refusal = try await session.peer.refusal(on: session.topic)
        #expect(refusal.reason.code == .overloaded)
        #expect(refusal.frame?.first.rawValue == UInt64(3 + maxFrames))
        for number in 0..<100 { try await second.send(Written(line: "\(number)")) }
        node.journal.hold(false)
        try await receipts(from: 2, through: 2 + maxFrames)
        try await send(3 + maxFrames)
        try await receipts(from: 3 + maxFrames, through: 3 + maxFrames)
        #expect(try await node.first.send(Written(line: "")).revision == Revision(UInt64(4 + maxFrames)))
        #expect(try await node.second?.send(Written(line: "")).revision == Revision(UInt64(maxFrames + 103)))
        await second.close()
        await node.node.stop()
    }

    /// The frames that a store can reduce in its next turns wait in the socket. Only a store whose journal has no room
    /// must not stop the others.
    @Test
    func `A journal with deferred frames refuses nothing while a store is busy and another one is idle`() async throws {
        let node = try await Node { $0.maxHeldBytes = 0 }
        let session = try await RawSession(of: try await RawPeer(node.address), store: "second")
        let action = try ActionTable.encode(Written(line: "x"))
        for number in UInt64(1)...500 { try await session.send([action], first: number) }
        var resolved = 0
        while resolved < 500 { resolved += try await session.peer.receipts(on: session.topic).outcomes.count }
        await node.node.stop()
    }

    @Test func `Frames beyond the bound of deferred ones are refused, and processed in order later`() async throws {
        let node = try await Node { $0.maxHeldBytes = 2000 }
        let (first, second) = (try node.sender("first"), try node.sender("second"))
        let held = try await node.holdJournal(first)
        let long = String(repeating: "x", count: 500)
        var receipts: [PendingReceipt] = []
        for number in 2...100 { receipts.append(try await first.submit(Written(line: "\(number)\(long)"))) }
        for await status in first.statuses {
            if case .waiting(let reason) = status {
                #expect(reason.code == .overloaded)
                break
            }
        }
        try await second.send(Written(line: "0"))
        node.journal.hold(false)
        _ = try await held.receipt()
        for (index, receipt) in receipts.enumerated() {
            #expect(try await receipt.receipt().revision == Revision(UInt64(index) + 3))
        }
        #expect(try await node.first.send(Written(line: "last")).revision == Revision(102))
        #expect(node.first.state.lines == ["0", "1"] + (2...100).map { "\($0)\(long)" } + ["last"])
        await first.close()
        await second.close()
        await node.node.stop()
    }

    @Test func `The journal of the only store of a node defers no frames, and refuses nothing`() async throws {
        let node = try await Node(stores: 1) { $0.maxHeldBytes = 0 }
        let sender = try node.sender("first")
        let held = try await node.holdJournal(sender)
        let session = try await RawSession(of: try await RawPeer(node.address), store: "first")
        let action = try ActionTable.encode(Written(line: String(repeating: "x", count: 1000)))
        for number in UInt64(1)...100 { try await session.send([action], first: number) }
        node.journal.hold(false)
        _ = try await held.receipt()
        var resolved = 0
        while resolved < 100 { resolved += try await session.peer.receipts(on: session.topic).outcomes.count }
        await sender.close()
        await node.node.stop()
    }
}
