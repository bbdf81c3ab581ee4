import StateCore
import StatecastTesting
import Testing

@Suite struct ReducerSpecTests {
    let spec = ReducerSpec(Library.reducer())

    @Test func `a scenario that comes true passes, step by step`() {
        spec
            .given(Library())
            .when(LoadRequested())
            .then(effects: .run(id: "load")) { $0.isLoading = true }
            .at(Timestamp(milliseconds: 7))
            .when(BooksLoaded(books: ["Dune"]))
            .then {
                $0.isLoading = false
                $0.books = ["Dune"]
                $0.loadedAt = Timestamp(milliseconds: 7)
            }
            .from(user: "ada")
            .when(BookLent(book: "Dune"), LoadCancelled())
            .then(Library(loadedAt: Timestamp(milliseconds: 7), lastReader: "ada"), effects: .cancel(id: "load"))
    }

    @Test func `another state is an issue that shows the difference`() async {
        await expectIssues("+   isLoading: true") {
            spec.given(Library()).when(LoadRequested()).then(Library(), effects: .run(id: "load"))
        }
        await expectIssues("isLoading: false") {
            spec.given(Library()).when(LoadCancelled()).then(effects: .cancel(id: "load")) { $0.isLoading = true }
        }
    }

    @Test func `a change that nobody named is an issue`() async {
        await expectIssues("The state after BooksLoaded") {
            spec.given(Library()).when(BooksLoaded(books: ["Dune"])).then { $0.books = ["Dune"] }
        }
    }

    @Test func `an effect that nobody expected is an issue`() async {
        await expectIssues("run(id: load)") {
            spec.given(Library()).when(LoadRequested()).then { $0.isLoading = true }
        }
    }

    @Test func `an effect that does not come is an issue`() async {
        await expectIssues("run(id: save)") {
            spec.given(Library()).when(LoadRequested()).then(effects: .run(id: "save")) { $0.isLoading = true }
        }
    }

    @Test func `a step answers for its own effects only`() {
        spec
            .given(Library())
            .when(LoadRequested())
            .then(effects: .run(id: "load")) { $0.isLoading = true }
            .when(Reached(1))
            .then()
    }

    @Test func `effects may be ignored, but not when they are named`() async {
        let scenario = spec.given(Library()).ignoringEffects().when(LoadRequested())
        scenario.then { $0.isLoading = true }
        await expectIssues("The effects of LoadRequested") {
            scenario.then(effects: .run(id: "save")) { $0.isLoading = true }
        }
    }

    @Test func `what was reached can be looked at`() {
        let scenario = spec.given(Library()).when(LoadRequested())
        #expect(scenario.state.isLoading)
        #expect(scenario.effects == [.run(id: "load")])
    }
}
