import StateCore
import StatecastTesting
import Testing

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

    @Test func `a shape reads as a reducer would write it`() {
        let shape = EffectShape.sequence([
            .merge([.run(id: "a"), .blocking()]), .run(), .blocking(id: 1), .cancel(id: 2),
        ])
        #expect(shape.description == "sequence(merge(run(id: a), blocking), run, blocking(id: 1), cancel(id: 2))")
        #expect(EffectShape.dispatch(Reached(1)).description.hasSuffix("Reached(point: 1))"))
    }
}
