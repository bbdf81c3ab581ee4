internal import Logging

/// From an action to its outcome: middlewares and the reducer.
extension StoreHost {
    /// Takes a sender's actions.
    func take(_ admitted: AdmittedActions) {
        let context = ActionContext(time: surroundings.clock.time, session: admitted.session.description)
        var number = admitted.first
        for bytes in admitted.actions {
            let arrived = Result { () throws(Rejection) in try decode(bytes) }
            take(arrived, of: admitted.session, number, context: context)
            number = number.next
        }
    }

    private func decode(_ bytes: [UInt8]) throws(Rejection) -> any Action {
        if let rejection = machine.rejection(ofBytes: bytes.count) { throw rejection }
        return try definition.registry.decode(bytes)
    }

    /// Takes the next action of a session into the open batch.
    func take(
        _ arrived: Result<any Action, Rejection>,
        of session: SessionID,
        _ number: ActionNumber,
        context: ActionContext,
        local: LocalAction? = nil
    ) {
        let action = BatchedAction(session: session, number: number, context: context, arrived: arrived, local: local)
        batch.append(action)
        settle(action, pass(action))
    }

    /// Takes an action through the middlewares to the reducer.
    ///
    /// - Returns: the effect, or why it was not reduced.
    func pass(_ action: BatchedAction) -> Result<Effect, Rejection> {
        action.arrived.flatMap { arrived in
            guard !definition.middleware.isEmpty else { return .success(reduce(arrived, context: action.context)) }
            var effect: Effect?
            let store = MiddlewareStore(context: action.context, dispatcher: dispatcher) { [self] in state }
            let outcome = definition.middleware.pass(arrived, in: store, misuse: misused) { arrived in
                effect = reduce(arrived, context: action.context)
            }
            if let effect { return .success(effect) }
            // A value that a middleware answers with cannot travel: to the sender the action was not applied.
            return outcome.flatMap { _ in .failure(.swallowed(arrived)) }
        }
    }

    /// What middlewares dispatch with while this batch is open.
    private var dispatcher: HeldDispatcher {
        if let held { return held }
        let dispatcher = HeldDispatcher(to: definition.entrance)
        held = dispatcher
        return dispatcher
    }

    private func reduce(_ action: any Action, context: ActionContext) -> Effect {
        definition.reducer.reduce(into: &state, action, context: context)
    }

    private func misused(_ misuse: Misuse) {
        logger.warning("misuse", metadata: ["store": "\(name)", "misuse": "\(misuse)"])
    }

    /// Says what became of an action, and notes what is to be done about it.
    func settle(_ action: BatchedAction, _ passed: Result<Effect, Rejection>) {
        let (verdict, effect) =
            switch passed {
            case .success(let effect): (Verdict.applied, effect)
            case .failure(let rejection): (Verdict.rejected(rejection), Effect.none)
            }
        let outcome = machine.resolved(action.session, action.number, verdict)
        outcomes.append(outcome)
        guard action.local != nil || !effect.isNone else { return }
        cancelled.formUnion(effect.cancelledIDs)
        followUps.append(
            FollowUp(
                session: action.session,
                number: action.number,
                outcome: outcome,
                effect: effect,
                local: action.local
            )
        )
    }
}
