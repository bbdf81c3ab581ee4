import Logging
import StateCoding
import Statecast
import SyncProtocol
import Testing

@Suite(.timeLimit(.minutes(10))) struct DocumentTests {
    private let first = Lineage(bits: 1)
    private let second = Lineage(bits: 2)

    @Test func `a snapshot of another history makes up for a patch that did not fit, though both came at once`()
        async throws
    {
        try await Gatekeeper.exclusively { gate in
            let primary = try await RawPrimary(store: "raw")
            let replica = try Replica<Value>(
                store: "raw",
                from: primary.endpoint,
                configuration: .quick,
                logger: Logger(label: "test"),
                content: GatedContent(UntypedContent(), gate: gate)
            )
            try await primary.welcome(to: first, at: Revision(1), ["n": 1])
            try await replica.reached(Position(lineage: first, epoch: Epoch(1), revision: Revision(1)))

            // The document is busy with the second state while the rest gathers.
            gate.close()
            try await primary.publish(.update(update(to: 2, Patch(from: ["n": 1], to: ["n": 2]))), on: .feed)
            await gate.someoneWaits()
            try await primary.publish(
                .update(update(to: 3, Patch(from: ["m": ["x": 1]], to: ["m": ["x": 2]]))),
                on: .feed
            )
            let heartbeat = Heartbeat(
                lineage: second,
                epoch: Epoch(1),
                head: Revision(7),
                digest: 0,
                time: Timestamp(milliseconds: 0)
            )
            try await primary.publish(.heartbeat(heartbeat), on: .feed)
            try await primary.welcome(to: second, at: Revision(7), ["n": 7])
            gate.open()
            try await replica.reached(Position(lineage: second, epoch: Epoch(1), revision: Revision(7)))
            #expect(replica.snapshot?.state == ["n": 7])
        }
    }

    private func update(to revision: UInt64, _ patch: Patch) -> Update {
        Update(
            lineage: first,
            epoch: Epoch(1),
            from: Revision(revision - 1),
            to: Revision(revision),
            patch: patch.encode()
        )
    }
}
