import CounterApp
import Statecast
import SyncProtocol
import Testing

/// Where a sender pushes is its own decision, whatever the primary says.
@Suite(.timeLimit(.minutes(10))) struct `The endpoint in a watermark` {
    private let lineage = Lineage(bits: 7)

    private func watermark(_ endpoint: String) -> Frame {
        .watermark(
            Watermark(
                lineage: lineage,
                epoch: Epoch(1),
                number: nil,
                opened: JournalSequence(0),
                windowActionsMax: 16,
                actionBytesMax: 1000,
                frameBytesMax: 10_000,
                endpoint: endpoint
            )
        )
    }

    static let refused = [
        ("inproc://zeromq.zap.01", "within one process"), ("tcp://192.0.2.1:7101", "--insecure"),
        ("tcp://127.0.0.1:*", "cannot be connected to"), ("ipc://*", "cannot be connected to"),
        ("udp://127.0.0.1:7101", "expected tcp://host:port"), ("", "is no endpoint"),
        ("ipc://" + String(repeating: "x", count: 100_000), "at most 512 bytes"),
    ]

    @Test(arguments: refused)
    func `connects to tcp and ipc on this machine alone, and says so`(_ endpoint: String, _ expected: String)
        async throws
    {
        let primary = try await RawPrimary(store: "counter")
        let told = Latest<String>()
        told.set(endpoint)
        let answering = Task {
            while case .receipts(let session) = try await primary.request().topic {
                try await primary.publish(watermark(told.value ?? ""), on: .receipts(session))
            }
        }
        defer { answering.cancel() }
        let sender = try ActionSender(store: "counter", from: primary.endpoint, configuration: .quick)
        let pending = try await sender.submit(CounterIncreaseRequested())
        let rejection = await #expect(throws: Rejection.self) { try await pending.receipt() }
        #expect(rejection?.code == .endpointRefused)
        #expect(rejection?.message.contains(expected) == true, "\(rejection?.message ?? "")")
        #expect((rejection?.message.utf8.count ?? 0) < 2000)
        // It goes on asking, and is refused again each time.
        for await status in sender.statuses where status == rejection.map(SenderStatus.refused) { break }
        // With an endpoint that it takes it goes on sending.
        let hole = try await RawHole()
        told.set(hole.endpoint)
        for await status in sender.statuses where status == .open { break }
        _ = try await sender.submit(CounterIncreaseRequested())
        guard case .actions(let frame) = try Message.decode(try await hole.next()).frame else {
            Issue.record("not a frame of actions")
            return
        }
        #expect(frame.actions == [WireAction.increase])
        await sender.close()
    }
}
