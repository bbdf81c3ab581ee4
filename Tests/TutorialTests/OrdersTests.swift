import Statecast
import Testing

@Suite struct OrdersTests {
    @Test func `the second release goes on from the journal of the first`() async throws {
        let journal = MemoryJournal()
        let anyPorts = PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
        let first = try Primary(
            store: "orders",
            state: FirstRelease.Orders(),
            actions: [OrderPlaced.self],
            journal: journal,
            configuration: anyPorts
        ) { orders, action in
            guard let placed = action as? OrderPlaced else { return }
            orders.open[placed.number] = FirstRelease.Order(item: placed.item, price: 19.5)
        }
        try await first.start()
        try await first.send(OrderPlaced(number: 4711, item: "Lamp"))
        await first.stop()

        let second = try Primary(
            store: "orders",
            state: SecondRelease.Orders(),
            actions: [OrderPlaced.self],
            journal: journal,
            evolution: SecondRelease.evolution,
            configuration: anyPorts
        ) { orders, action in
            guard let placed = action as? OrderPlaced else { return }
            orders.open[placed.number] = SecondRelease.Order(item: placed.item, cents: 100, isPaid: true)
        }
        try await second.start()
        let lamp = SecondRelease.Order(item: "Lamp", cents: 1950, isPaid: false)
        #expect(second.state == SecondRelease.Orders(name: "Corner shop", currency: "EUR", open: [4711: lamp]))
        #expect(await second.revision == Revision(2))
        await second.stop()
    }
}
