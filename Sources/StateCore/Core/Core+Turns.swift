extension Core {
    /// One action's turn.
    @inlinable
    func take(_ action: any Action) {
        guard kept.pointee.isPlain else { return takeGuarded(action) }
        if isForMiddleware(action) { reportUntaken(action) }
        let context = ActionContext(time: reducer.readsContext ? now() : .epoch)
        let effect: Effect
        if kept.pointee.needingOldCount == 0 {
            effect = reduce(action, context: context)
            if !kept.pointee.observers.isEmpty { tellObservers(of: action, old: nil) }
        } else {
            // A second reference to the state makes its collections copy when they change.
            let old = kept.pointee.state
            effect = reduce(action, context: context)
            tellObservers(of: action, old: old)
        }
        if !effect.isNone { start(effect) }
    }

    @inlinable
    func reduce(_ action: any Action, context: ActionContext) -> Effect {
        stateLock.lock()
        defer { stateLock.unlock() }
        kept.pointee.revision &+= 1
        return reducer.body(&kept.pointee.state, action, context)
    }

    @inlinable
    func tellObservers(of action: consuming (any Action)?, old: consuming State?) {
        let revision = kept.pointee.revision
        let change = Change(
            old: old,
            oldRevision: revision &- 1,
            new: kept.pointee.state,
            revision: revision,
            action: action
        )
        // The list changes in turns of its own, so it holds still here, and keeps its observers alive.
        kept.pointee.observers.deliver(change)
    }

    @usableFromInline
    func start(_ effect: Effect) {
        effects.start(effect, key: IdempotencyKey(revision: kept.pointee.revision, index: 0))
    }

    @usableFromInline
    func reportUntaken(_ action: any Action) { misuse(.untakenByMiddleware(action: type(of: action).name)) }

    /// One action's turn, with all that may stand in its way.
    @usableFromInline
    func takeGuarded(_ action: any Action) {
        guard kept.pointee.isRunning else {
            return misuse(.dispatchedWhileStopped(action: type(of: action).name))
        }
        _ = takeWithAnswer(action)
    }

    func takeWithAnswer(_ action: any Action) -> Result<Reply, Rejection> {
        guard kept.pointee.isRunning else {
            let name = type(of: action).name
            return .failure(Rejection(.stopped, "the core is stopped and takes no \(name): call start()"))
        }
        let context = ActionContext(time: now())
        guard kept.pointee.hasMiddleware else {
            if isForMiddleware(action) { reportUntaken(action) }
            tell(reduceTapped(action, context: context))
            return .success(Reply(revision: kept.pointee.revision, value: nil))
        }
        var pending: Reduced?
        let store = MiddlewareStore(context: context, dispatcher: WeakDispatcher(self)) { [self] in kept.pointee.state }
        let outcome = middleware.pass(action, in: store, misuse: misuse) { action in
            pending = reduceTapped(action, context: context)
        }
        if let pending { tell(pending) }
        return outcome.map { Reply(revision: kept.pointee.revision, value: $0) }
    }

    /// An action that was reduced, and what is to be said of it.
    private struct Reduced {
        let action: any Action
        let context: ActionContext
        /// Nil if nobody is to be shown it.
        let old: State?
        let effect: Effect
    }

    private func reduceTapped(_ action: any Action, context: ActionContext) -> Reduced {
        tell(.before, of: action, context: context)
        let old = kept.pointee.needingOldCount == 0 ? nil : kept.pointee.state
        let effect = reduce(action, context: context)
        return Reduced(action: action, context: context, old: old, effect: effect)
    }

    private func tell(_ reduced: Reduced) {
        tellObservers(of: reduced.action, old: reduced.old)
        tell(.after, of: reduced.action, context: reduced.context)
        if !reduced.effect.isNone { start(reduced.effect) }
    }

    private func tell(_ moment: TapMoment, of action: any Action, context: ActionContext) {
        guard let listeners = kept.pointee.taps[moment] else { return }
        let tapped = TappedAction(
            action: action,
            context: context,
            state: kept.pointee.state,
            revision: kept.pointee.revision
        )
        for listener in listeners { listener.deliver(tapped) }
    }

    // MARK: Other turns

    func updated(by change: (inout State) -> Void) {
        let old = kept.pointee.needingOldCount == 0 ? nil : kept.pointee.state
        stateLock.lock()
        kept.pointee.revision &+= 1
        change(&kept.pointee.state)
        stateLock.unlock()
        tellObservers(of: nil, old: old)
    }

    func begin() {
        guard !kept.pointee.isRunning else { return }
        kept.pointee.isRunning = true
        kept.pointee.settlePlainness()
        kept.pointee.starts += 1
        let key = IdempotencyKey(revision: kept.pointee.revision, index: 0, start: kept.pointee.starts)
        effects.start(initialEffect(kept.pointee.state), key: key)
    }

    func end() {
        kept.pointee.isRunning = false
        kept.pointee.settlePlainness()
        effects.cancelAll()
    }
}
