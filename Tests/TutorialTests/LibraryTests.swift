import StatecastCore
import StatecastTesting
import Testing

@Suite struct LibraryTests {
    @Test func `books are loaded`() async {
        let core = TestCore(Library(), reducer: Library.reducer { ["Solaris", "Dune"] })
        await core.send(BooksRequested()) { $0.isLoading = true }
        await core.receive(BooksLoaded(books: ["Solaris", "Dune"])) {
            $0.isLoading = false
            $0.books = ["Solaris", "Dune"]
        }
        await core.finish()
    }

    @Test func `a failure is shown`() async {
        struct Closed: Error {}
        let core = TestCore(Library(), reducer: Library.reducer { throw Closed() })
        await core.send(BooksRequested()) { $0.isLoading = true }
        await core.receive(BooksUnavailable.self) {
            $0.isLoading = false
            $0.failure = "Closed()"
        }
        await core.finish()
    }

    @Test func `a book added while the others are loaded stays`() async {
        let latch = Latch()
        let reducer = Library.reducer {
            await latch.wait()
            return ["Solaris"]
        }
        let core = TestCore(Library(), reducer: reducer)
        await core.send(BooksRequested()) { $0.isLoading = true }
        await core.send(BookAdded(title: "Dune")) { $0.books = ["Dune"] }
        latch.open()
        await core.receive(BooksLoaded.self) {
            $0.isLoading = false
            $0.books = ["Solaris", "Dune"]
        }
        await core.finish()
    }

    @Test func `a cancelled effect sends nothing`() async {
        let latch = Latch()
        let reducer = Library.reducer {
            await latch.wait()
            return ["Solaris"]
        }
        let core = TestCore(Library(), reducer: reducer)
        await core.send(BooksRequested()) { $0.isLoading = true }
        await core.send(LoadingCancelled()) { $0.isLoading = false }
        latch.open()
        await core.finish()
    }

    @Test func `a core loads the books`() async throws {
        let core = Core(Library(), reducer: Library.reducer { ["Solaris"] })
        try await core.send(BooksRequested())
        for await library in core.states where !library.isLoading {
            #expect(library.books == ["Solaris"])
            break
        }
    }
}
