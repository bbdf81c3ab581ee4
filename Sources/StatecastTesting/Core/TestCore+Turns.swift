internal import StateCore

extension TestCore {
    /// One action's turn, as in a core: through the middlewares to the reducer, then its effects.
    func take(_ action: any Action, context: ActionContext, at site: CallSite) -> Result<(any Sendable)?, Rejection> {
        var pending: (effect: Effect, name: String)?
        let store = MiddlewareStore(context: context, dispatcher: inbox) { self.state }
        let outcome = Turn.take {
            middleware.pass(action, in: store, warn: { site.report("RuntimeWarning: \($0)") }) { action in
                revision += 1
                pending = (reducer.reduce(into: &state, action, context: context), type(of: action).name)
            }
        }
        if inbox.now.arrivals.contains(where: \.isImmediate) { isFinished = false }
        if let pending { start(pending.effect, of: pending.name) }
        return outcome
    }

    /// An arrival's turn.
    func take(_ arrival: Arrival, at site: CallSite) -> Result<(any Sendable)?, Rejection> {
        defer { arrival.settle() }
        return take(arrival.action, context: ActionContext(time: time), at: site)
    }

    /// Starts the parts of an effect one by one, so that each can be told to have ended.
    func start(_ effect: Effect, of name: String, atStart number: UInt64? = nil) {
        var index = 0
        for part in effect.parts {
            guard let shape = part.shape else { continue }
            let key = IdempotencyKey(revision: revision, index: index, start: number)
            index += part.workCount
            Turn.take { start(part, shape, of: name, key: key) }
        }
        inbox.sweep()
    }

    private func start(_ part: Effect, _ shape: EffectShape, of name: String, key: IdempotencyKey) {
        switch shape {
        case .cancel(let id):
            effects.start(part, key: key)
            let cancelled = parts.indices.filter { parts[$0] == .run(id: id) || parts[$0] == .blocking(id: id) }
            inbox.forget(Set(cancelled))
        case .dispatch:
            isFinished = false
            effects.start(part, key: key)
        default:
            isFinished = false
            let number = parts.count
            parts.append(shape)
            inbox.run(Inbox.RunningPart(number: number, name: "\(shape) of \(name)"))
            effects.start(.sequence(part, .dispatch(Inbox.PartEnded(number: number))), key: key)
        }
    }

    // MARK: Asserting

    /// Compares the state with what the test says became of `old`.
    func compare(_ old: State, _ change: (inout State) -> Void, after name: String, at site: CallSite) {
        var expected = isExhaustive ? old : state
        change(&expected)
        guard state != expected else { return }
        site.report(
            "The state after \(name) is not the expected one:\n\n" + difference(expected: expected, actual: state)
        )
    }

    /// Compares what became of an action with what the test says.
    ///
    /// - Returns: the value that a middleware answered with.
    func compare(
        _ result: Result<(any Sendable)?, Rejection>,
        _ expected: Rejection.Code?,
        of name: String,
        at site: CallSite
    ) -> (any Sendable)? {
        switch (result, expected) {
        case (.success(let value), nil): return value
        case (.success(let value), let expected?):
            site.report("\(name) was not rejected; expected was \(expected).")
            return value
        case (.failure(let rejection), nil): site.report("\(name) was rejected: \(rejection)")
        case (.failure(let rejection), let expected?):
            if rejection.code != expected {
                site.report("\(name) was rejected: \(rejection); expected was \(expected).")
            }
        }
        return nil
    }
}
