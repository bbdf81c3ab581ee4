import Statecast
import StatecastTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct LibraryAcrossProcesses {
    @Test func `the same reducer serves other processes`() async throws {
        let primary = try Primary(
            store: "library",
            state: Library(),
            actions: [BooksRequested.self, BookAdded.self, LoadingCancelled.self],
            configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*"),
            reducer: Library.reducer { ["Solaris"] }
        )
        try await withPrimary(primary) { primary in
            let endpoint = try await primary.address.publish
            try await withReplica(Replica<Library>(store: "library", from: endpoint)) { replica in
                let shown = Spy<[String]>()
                let subscription = replica.scope(\.books).observe { change in shown(change.new) }
                try await withSender(ActionSender(store: "library", from: endpoint)) { sender in
                    try await sender.send(BooksRequested())
                    while await shown.next() != ["Solaris"] {}
                }
                subscription.cancel()
            }
        }
    }
}
