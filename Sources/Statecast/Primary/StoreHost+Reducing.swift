internal import Logging
internal import SyncProtocol

/// From an action to its outcome: middlewares and the reducer.
extension StoreHost {
    /// Takes a sender's actions.
    func take(_ admitted: AdmittedActions) {
        let context = ActionContext(time: surroundings.clock.time, session: admitted.session.description)
        var number = admitted.first
        for bytes in admitted.actions {
            take(bytes, of: admitted.session, number, context: context) { [self] () throws(Rejection) in
                if let rejection = machine.rejection(ofBytes: bytes.count) { throw rejection }
                return try definition.registry.decode(bytes)
            }
            number = number.next
        }
    }

    /// Takes the next action of a session into the open batch.
    ///
    /// - Parameter bytes: the action, encoded, as far as a journal needs that.
    func take(
        _ bytes: [UInt8],
        of session: SessionID,
        _ number: ActionNumber,
        context: ActionContext,
        local: LocalAction? = nil,
        _ decode: () throws(Rejection) -> any Action
    ) {
        // Whatever ends the process from here on was this action. One of its own process does not come again by itself.
        if local == nil { reductions?.begin(session, number) }
        defer { reductions?.end() }
        let arrived = Result { () throws(Rejection) in
            if local == nil { try refusePoison(session, number) }
            return try decode()
        }
        let action = BatchedAction(
            session: session,
            number: number,
            context: context,
            arrived: arrived,
            bytes: bytes,
            local: local
        )
        batch.append(action)
        settle(action, pass(action))
    }

    /// Takes an action through the middlewares to the reducer.
    ///
    /// - Returns: what came of it, or why it was not reduced.
    func pass(_ action: BatchedAction) -> Result<Reduced, Rejection> {
        action.arrived.flatMap { arrived in
            guard !definition.middleware.isEmpty else {
                if type(of: arrived).isForMiddleware { warn(.unhandledByMiddleware(action: type(of: arrived).name)) }
                return .success(Reduced(effect: reduce(arrived, context: action.context), bytes: action.bytes))
            }
            var reduced: Result<Reduced, Rejection>?
            let store = MiddlewareStore(context: action.context, dispatcher: dispatcher) { [self] in state }
            let outcome = definition.middleware.pass(arrived, in: store, warn: warn) { reached in
                reduced = bytesForJournal(of: reached).map { bytes in
                    Reduced(effect: reduce(reached, context: action.context), bytes: bytes)
                }
            }
            // A value that a middleware answers with cannot travel: to the sender the action was not applied.
            return reduced ?? outcome.flatMap { _ in .failure(.swallowed(arrived)) }
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

    private func warn(_ warning: RuntimeWarning) {
        logger.warning("runtime warning", metadata: ["store": "\(name)", "warning": "\(warning)"])
    }

    /// Says what became of an action, and notes what is to be done about it.
    func settle(_ action: BatchedAction, _ passed: Result<Reduced, Rejection>) {
        let (verdict, effect, bytes) =
            switch passed {
            case .success(let reduced): (Verdict.applied, reduced.effect, reduced.bytes)
            case .failure(let rejection): (Verdict.rejected(rejection), Effect.none, action.readableBytes)
            }
        let outcome = machine.resolved(action.session, action.number, verdict)
        if case .rejected(let rejection) = outcome {
            logger.debug("action rejected", metadata: ["store": "\(name)", "reason": "\(rejection)"])
        }
        settled.append(
            SettledAction(
                session: action.session,
                number: action.number,
                context: action.context,
                bytes: bytes,
                outcome: outcome
            )
        )
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
