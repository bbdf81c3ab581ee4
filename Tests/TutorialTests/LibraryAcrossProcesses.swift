import Statecast
import StatecastTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct LibraryAcrossProcesses {
    @Test func `the same reducer serves other processes`() async throws {
        let primary = try Primary(
            store: "library",
            state: Library(),
            actions: [BooksRequested.self, BooksLoaded.self, BookAdded.self],
            configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*"),
            reducer: Library.reducer { ["Solaris"] }
        )
        let address = try await primary.start()
        let replica = try Replica<Library>(store: "library", from: address.publish)
        let sender = try ActionSender(store: "library", from: address.publish)

        let shown = Spy<[String]>()
        let subscription = replica.scope(\.books).observe { change in shown(change.new) }
        try await sender.send(BooksRequested())
        while await shown.next() != ["Solaris"] {}

        subscription.cancel()
        await primary.stop()
    }
}
