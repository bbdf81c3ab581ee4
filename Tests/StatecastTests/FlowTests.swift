import CounterApp
import FleetApp
import Statecast
import StatecastCoding
import Testing

@Suite(.timeLimit(.minutes(10)), .stopsNodes) struct FlowTests {
    @Test func `an action that a sender sends is shown by a replica, which reaches its receipt`() async throws {
        try await withCounter { cluster in
            let (replica, sender) = (try cluster.replica(), try cluster.sender())
            try await sender.send(StepChangeRequested(step: 7))
            let receipt = try await sender.send(CounterIncreaseRequested())
            #expect(receipt.revision == Revision(2))
            #expect(receipt.number == ActionNumber(2))
            try await replica.reached(receipt)
            #expect(replica.snapshot?.state == Counter(counter: 7, step: 7))
            #expect(replica.snapshot?.revision == Revision(2))
            #expect(await cluster.primary.revision == Revision(2))
        }
    }

    @Test func `a replica that joins late receives the state, and later updates`() async throws {
        try await withCounter { cluster in
            let sender = try cluster.sender()
            for _ in 0..<100 { _ = try await sender.submit(CounterIncreaseRequested()) }
            let receipt = try await sender.send(CounterIncreaseRequested())
            let replica = try cluster.replica()
            try await replica.reached(receipt)
            #expect(replica.snapshot?.state.counter == 101)
            try await replica.reached(try await sender.send(CounterDecreaseRequested()))
            #expect(replica.snapshot?.state.counter == 100)
        }
    }

    @Test func `a replica and a sender wait for a primary that starts after them`() async throws {
        let first = try await CounterPrimary.start()
        await first.primary.stop()
        let (replica, sender) = (try first.replica(), try first.sender())
        let receipt = Task { try await sender.send(CounterIncreaseRequested()) }
        await replica.waits { $0 == .joining }
        let second = try await first.restart()
        try await replica.reached(try await receipt.value)
        #expect(replica.snapshot?.state.counter == 1)
        #expect(await second.primary.revision == Revision(1))
    }

    @Test func `several stores share one pair of sockets`() async throws {
        let node = try PrimaryNode(configuration: .anyPorts)
        let counter = try Primary.counter(on: node)
        let fleet = try Primary(
            store: "fleet",
            state: Fleet(),
            actions: Fleet.actions,
            on: node,
            reducer: Fleet.reducer
        )
        let address = try await node.start()
        let counterSender = try ActionSender(store: "counter", from: address.publish).started()
        let fleetSender = try ActionSender(store: "fleet", from: address.publish).started()
        let replica = try Replica<Fleet>(store: "fleet", from: address.publish).started()
        try await counterSender.send(CounterIncreaseRequested())
        try await replica.reached(try await fleetSender.send(NoteAdded(text: "hello")))
        #expect(replica.snapshot?.state.notes.map(\.text) == ["hello"])
        #expect(await (counter.revision, fleet.revision) == (Revision(1), Revision(1)))
    }

    @Test func `a replica of values follows a store without knowing its types`() async throws {
        try await withCounter { cluster in
            let replica = try Replica<Value>(untyped: "counter", from: cluster.address.publish).started()
            let sender = try cluster.sender()
            try await replica.reached(try await sender.send(named: "StepChangeRequested", payload: ["step": 5]))
            #expect(replica.snapshot?.state == ["counter": 0, "step": 5])
        }
    }

    @Test func `a sender lists the actions of the store, each with an example`() async throws {
        try await withCounter { cluster in
            let actions = try await cluster.sender().actions()
            #expect(actions.map(\.name).sorted() == Counter.actions.map { $0.name }.sorted())
            let example = try #require(actions.first { $0.name == "StepChangeRequested" }?.example)
            #expect(example["step"]?.intValue == StepChangeRequested.example?.step)
        }
    }
}
