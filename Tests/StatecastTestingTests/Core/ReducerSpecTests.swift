import StatecastCore
import StatecastTesting
import Testing

@Suite struct ReducerSpecTests {
    let spec = ReducerSpec(Library.reducer())

    @Test func `a scenario passes step by step`() {
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

    @Test func `an unnamed change is an issue`() async {
        await expectIssues("The state after BooksLoaded") {
            spec.given(Library()).when(BooksLoaded(books: ["Dune"])).then { $0.books = ["Dune"] }
        }
    }

    @Test func `an unexpected effect is an issue`() async {
        await expectIssues("run(id: load)") {
            spec.given(Library()).when(LoadRequested()).then { $0.isLoading = true }
        }
    }

    @Test func `an effect that does not come is an issue`() async {
        await expectIssues("run(id: save)") {
            spec.given(Library()).when(LoadRequested()).then(effects: .run(id: "save")) { $0.isLoading = true }
        }
    }

    @Test func `a step has only its own effects`() {
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

    @Test func `the actual state and effects are readable`() {
        let scenario = spec.given(Library()).when(LoadRequested())
        #expect(scenario.state.isLoading)
        #expect(scenario.effects == [.run(id: "load")])
    }
}

@Suite struct EffectShapeTests {
    private enum WorkID: Hashable { case load, save }

    private func shapes(_ effect: Effect) -> [EffectShape] {
        ReducerSpec(Library.reducer()).given(Library()).when(Wanted(effect)).effects
    }

    @Test func `each kind of effect has its shape`() {
        #expect(shapes(.none).isEmpty)
        #expect(shapes(.dispatch(Reached(1))) == [.dispatch(Reached(1))])
        #expect(shapes(.run { _ in }) == [.run()])
        #expect(shapes(.run(id: WorkID.load, priority: .low) { _ in }) == [.run(id: WorkID.load)])
        #expect(shapes(.blocking { _ in }) == [.blocking()])
        #expect(shapes(.blocking(id: 3) { _ in }) == [.blocking(id: 3)])
        #expect(shapes(.cancel(id: WorkID.load)) == [.cancel(id: WorkID.load)])
        #expect(
            shapes(.sequence(.dispatch(Reached(1)), .merge(.run { _ in }, .cancel(id: 1))))
                == [.sequence([.dispatch(Reached(1)), .merge([.run(), .cancel(id: 1)])])]
        )
    }

    @Test func `merges and sequences within their like are one`() {
        #expect(
            shapes(.merge(.merge(.cancel(id: 1), .cancel(id: 2)), .cancel(id: 3)))
                == [.cancel(id: 1), .cancel(id: 2), .cancel(id: 3)]
        )
        #expect(
            shapes(.sequence(.sequence(.cancel(id: 1), .cancel(id: 2)), .cancel(id: 3)))
                == [.sequence([.cancel(id: 1), .cancel(id: 2), .cancel(id: 3)])]
        )
    }

    @Test func `shapes differ by kind, id, action and order`() {
        let shapes: [EffectShape] = [
            .dispatch(Reached(1)), .dispatch(Reached(2)), .dispatch(LoadRequested()), .dispatch(BookLent(book: "Dune")),
            .dispatch(BookLent(book: "Emma")), .run(), .run(id: 1), .run(id: "1"), .run(id: WorkID.save), .blocking(),
            .blocking(id: 1), .cancel(id: 1), .cancel(id: 2), .sequence([.run(), .cancel(id: 1)]),
            .sequence([.cancel(id: 1), .run()]), .merge([.run(), .cancel(id: 1)]),
        ]
        for (index, shape) in shapes.enumerated() {
            for (otherIndex, other) in shapes.enumerated() {
                #expect((shape == other) == (index == otherIndex), "\(shape), \(other)")
            }
        }
    }

    @Test func `a description has the spelling of a reducer`() {
        let shape = EffectShape.sequence([
            .merge([.run(id: "a"), .blocking()]), .run(), .blocking(id: 1), .cancel(id: 2),
        ])
        #expect(shape.description == "sequence(merge(run(id: a), blocking), run, blocking(id: 1), cancel(id: 2))")
        #expect(EffectShape.dispatch(Reached(1)).description.hasSuffix("Reached(point: 1))"))
    }
}
