import Foundation
import Statecast
import StatecastTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct LibraryAfterRestart {
    private let journal = MemoryJournal()
    private let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path

    private func primary(fetch: @escaping @Sendable () async throws -> [String]) throws -> Primary<Library> {
        try Primary(
            store: "library",
            state: Library(),
            actions: [BooksRequested.self, BookAdded.self, LoadingCancelled.self],
            initialEffect: { library in library.isLoading ? .dispatch(BooksRequested()) : .none },
            journal: journal,
            configuration: PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*"),
            reducer: Library.reducer(fetch: fetch)
        )
    }

    private func sender(to endpoint: String) throws -> ActionSender {
        try ActionSender(store: "library", from: endpoint, session: SessionFile(at: path, store: "library"))
    }

    @Test func `a primary loads again, and a sender sends what it has kept`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let unreachable = Latch()
        let first = try primary {
            await unreachable.wait()
            return []
        }
        let endpoint = try await withPrimary(first) { primary in
            let endpoint = try await primary.address.publish
            try await withSender(sender(to: endpoint)) { sender in
                _ = try await sender.send(BooksRequested())
            }
            return endpoint
        }
        // There is no primary now.
        try await withSender(sender(to: endpoint)) { sender in
            _ = try await sender.submit(BookAdded(title: "Dune"))
        }

        try await withPrimary(primary { ["Solaris"] }) { primary in
            let shown = Spy<Set<String>>()
            let subscription = primary.scope { Set($0.books) }.observe { change in shown(change.new) }
            try await withSender(sender(to: try await primary.address.publish)) { _ in
                while await shown.next() != ["Dune", "Solaris"] {}
            }
            subscription.cancel()
        }

        let actions: [any Action.Type] = [
            BooksRequested.self, BooksLoaded.self, BooksUnavailable.self, BookAdded.self, LoadingCancelled.self,
        ]
        let replay = try JournalReplay(of: Library.self, actions: actions, reducer: Library.reducer { [] })
        #expect(try replay.run(journal).difference == nil)
    }
}
