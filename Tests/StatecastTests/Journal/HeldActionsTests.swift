import SyncProtocol
import Testing

@testable import Statecast

/// What a node does with actions for a store whose journal has no room for them at present.
@Suite(.timeLimit(.minutes(10))) struct `A journal that is behind` {
    /// Two diaries on one node, or one; the journal of the first can be held up.
    private struct Node {
        let node: PrimaryNode
        let journal = FaultyJournal()
        let first: Primary<Diary>
        let second: Primary<Diary>?
        let address: PrimaryAddress

        init(stores: Int = 2, _ change: (inout Limits) -> Void = { _ in }) async throws {
            var configuration = PrimaryConfiguration.anyPorts
            configuration.limits = .quick
            configuration.limits.uncommittedRecordsMax = 1
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
            try ActionSender(store: store, from: address.publish, configuration: .quick)
        }

        /// Holds the journal up, and returns once there is no room in it.
        func holdJournal(_ sender: ActionSender) async throws -> PendingReceipt {
            _ = try await sender.send(Written(line: "0"))
            journal.hold(true)
            let held = try await sender.submit(Written(line: "1"))
            await journal.someoneWaits()
            return held
        }
    }

    @Test func `does not stop the other stores of its node, and loses and doubles nothing`() async throws {
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

    @Test func `refuses what is more than a node holds for it, and takes it in order later`() async throws {
        let node = try await Node { $0.heldBytesMax = 2000 }
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

    @Test func `lets the only store of a node wait, and refuses nothing`() async throws {
        let node = try await Node(stores: 1) { $0.heldBytesMax = 0 }
        let sender = try node.sender("first")
        let held = try await node.holdJournal(sender)
        let peer = try await RawPeer(node.address)
        let session = SessionID.random()
        let watermark = try await peer.watermark(of: session, store: "first")
        let action = try ActionCoding.encode(Written(line: String(repeating: "x", count: 1000)))
        for number in 1...100 {
            let first = UInt64(number)
            await peer.push(try WireAction.message([action], first: first, session: session, watermark, store: "first"))
        }
        node.journal.hold(false)
        _ = try await held.receipt()
        var settled = 0
        while settled < 100 {
            guard case .receipts(let receipts) = try await peer.next(on: "sc1/first/receipts/\(session)") else {
                Issue.record("refused")
                return
            }
            settled += receipts.outcomes.count
        }
        await sender.close()
        await node.node.stop()
    }

    @Test func `has frames held for it up to exactly heldBytesMax bytes, in order`() throws {
        func message(_ number: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: number, count: count) }
        var held = HeldFrames()
        var kept: [Bool] = []
        func keep(_ number: UInt8, _ count: Int) {
            kept.append(held.append(message(number, count), bytesMax: 100))
        }
        keep(1, 60)
        keep(2, 41)
        keep(2, 40)
        keep(3, 1)
        #expect(kept == [true, false, true, false])
        #expect(held.popFirst() == message(1, 60))
        keep(3, 60)
        #expect(kept.last == true)
        #expect(held.popFirst() == message(2, 40))
        #expect(held.popFirst() == message(3, 60))
        #expect(held.popFirst() == nil && held.isEmpty)
    }
}
