extension Effect {
    /// What a composite effect is made of: two parts or more, none of them empty.
    @usableFromInline
    package struct Parts: Sendable, Sequence {
        let effects: [Effect]
        /// Counted once, so that nobody has to go through the parts of parts again and again.
        let workCount: Int

        init(_ effects: [Effect]) {
            self.effects = effects
            workCount = effects.reduce(0) { $0 + $1.workCount }
        }

        @usableFromInline
        package func makeIterator() -> IndexingIterator<[Effect]> { effects.makeIterator() }
    }

    /// How many pieces of work it describes.
    package var workCount: Int {
        switch operation {
        case nil, .dispatch, .cancel: 0
        case .run: 1
        case .merge(let parts), .sequence(let parts): parts.workCount
        }
    }

    /// What it cancels when it is started. In a sequence also what it cancels later.
    package var cancelledIDs: [AnyID] {
        switch operation {
        case nil, .dispatch, .run: []
        case .cancel(let id): [id]
        case .merge(let parts), .sequence(let parts): parts.flatMap(\.cancelledIDs)
        }
    }

    /// One effect out of several. Parts that are composed in the same way are taken apart, so that it never gets deep.
    static func composed(
        _ effects: [Effect?],
        as composite: (Parts) -> Operation,
        takingApart parts: (Operation) -> Parts?
    ) -> Effect {
        var flat: [Effect] = []
        flat.reserveCapacity(effects.count)
        for effect in effects {
            guard let effect, let operation = effect.operation else { continue }
            if let parts = parts(operation) {
                flat += parts.effects
            } else {
                flat.append(effect)
            }
        }
        return flat.count > 1 ? Effect(composite(Parts(flat))) : flat.first ?? .none
    }
}
