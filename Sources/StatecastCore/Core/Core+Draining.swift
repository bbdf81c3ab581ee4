public import StatecastThreading

extension Core {
    /// An entry of the core's queue.
    @usableFromInline
    enum Request: Sendable {
        case reduce(any Action, depth: Int)
        case awaited(any Action, @Sendable (Result<ActionResult, Rejection>) -> Void, depth: Int)
        case result(EffectAction, depth: Int)
        case observe(Listener<Change<State>>, replay: Replay, oldState: OldState)
        case ignore(Listener<Change<State>>, oldState: OldState)
        case tap(Listener<TappedAction<State>>, TapMoment)
        case untap(Listener<TappedAction<State>>)
        case update(@Sendable (inout State) -> Void, depth: Int)
        case start
        case stop

        /// The length of the chain of follow-up actions that led to this request.
        var depth: Int {
            switch self {
            case .reduce(_, let depth), .awaited(_, _, let depth), .result(_, let depth), .update(_, let depth): depth
            case .observe, .ignore, .tap, .untap, .start, .stop: 0
            }
        }
    }

    /// The data that only the drainer accesses.
    @usableFromInline
    struct Storage {
        @usableFromInline var state: State
        @usableFromInline var revision: UInt64 = 0
        @usableFromInline var observers = ListenerList<Change<State>>()
        /// The number of observers that need the old state.
        @usableFromInline var oldStateObserverCount = 0
        /// Whether the core runs without middlewares and taps.
        @usableFromInline var isPlain = false
        var taps: [TapMoment: [Listener<TappedAction<State>>]] = [:]
        var isRunning = false
        var starts: UInt64 = 0
        @usableFromInline let hasMiddleware: Bool
        /// The length of the chain of follow-up actions that led to the current request.
        @usableFromInline var depth = 0
        /// The number of follow-up actions since the last request from outside.
        @usableFromInline var followUpCount = 0

        init(state: State, hasMiddleware: Bool) {
            self.state = state
            self.hasMiddleware = hasMiddleware
        }

        @inlinable
        mutating func begin(atDepth depth: Int) {
            self.depth = depth
            if depth == 0 { followUpCount = 0 }
        }

        mutating func updateIsPlain() { isPlain = isRunning && !hasMiddleware && taps.isEmpty }
    }

    // MARK: The queue

    /// Processes a request now if the queue is idle, otherwise enqueues it.
    @inlinable
    func submit(_ request: consuming Request) {
        guard queue.beginDraining() else { return enqueue(request) }
        process(request)
        if !queue.endDraining() { drainRemaining() }
    }

    @inlinable
    func enqueue(_ request: consuming Request) {
        // The queue may have become idle in the meantime.
        if queue.enqueue(request) { drainRemaining() }
    }

    @inlinable
    func dispatchQueued(_ action: any Action) {
        enqueue(.reduce(action, depth: depthOfNext { type(of: action).name }))
    }

    @inlinable
    func depthOfNext(_ name: () -> String) -> Int { queue.isDrainedByCaller ? depthOfFollowUp(name) : 0 }

    /// Counts an action that is dispatched while the core processes another one, and reports endless chains.
    @usableFromInline
    func depthOfFollowUp(_ name: () -> String) -> Int {
        let depth = storage.pointee.depth + 1
        storage.pointee.followUpCount += 1
        if depth == Self.maxDepth {
            warn(.endlessDispatch(action: name(), depth: depth))
        } else if storage.pointee.followUpCount == maxFollowUps {
            warn(.endlessDispatch(action: name(), depth: storage.pointee.followUpCount))
        }
        return depth
    }

    /// The length of a chain of follow-up actions that raises a warning.
    private static var maxDepth: Int { 10_000 }

    /// Drains the queue up to the limits of a dispatching thread, then continues on another thread.
    ///
    /// Never inlined, so that `dispatch` can be: its fast path does not call this.
    @inlinable
    @inline(never)
    func drainRemaining() {
        guard !drain(maxRequests: maxDrainedRequests - 1, until: .now + .milliseconds(2)) else { return }
        drainOnOtherThread()
    }

    /// Inlinable, so that the loop is specialized for the state: unspecialized it is three times slower.
    @inlinable
    func drainOnOtherThread() {
        queue.detachDrainer()
        runOnDispatchThread {
            self.queue.attachDrainer()
            _ = self.drain(maxRequests: .max, until: nil)
        }
    }

    /// Processes queued requests. Returns whether the queue is empty and draining has ended.
    ///
    /// - Parameter deadline: checked after every eighth request, because reading the clock costs as much as a request.
    @inlinable
    func drain(maxRequests: Int, until deadline: ContinuousClock.Instant?) -> Bool {
        var processed = 0
        while processed < maxRequests {
            processed += 1
            if processed & 7 == 0, let deadline, .now > deadline { return false }
            if let request = queue.popFirst() {
                process(request)
            } else if queue.endDraining() {
                return true
            }
        }
        return false
    }

    // MARK: Requests

    @inlinable
    func process(_ request: Request) {
        switch request {
        case .reduce(let action, let depth):
            storage.pointee.begin(atDepth: depth)
            process(action)
        default: processOther(request)
        }
    }

    @usableFromInline
    func processOther(_ request: Request) {
        storage.pointee.begin(atDepth: request.depth)
        switch request {
        case .reduce: break
        case .awaited(let action, let resume, _):
            resume(processWithResult(action))
        case .result(let result, _):
            if result.isWanted, storage.pointee.isRunning { _ = processWithResult(result.action) }
            result.complete()
        case .observe(let listener, let replay, let oldState):
            // If it was cancelled while it was queued, its removal has already been processed.
            guard listener.isActive else { return }
            storage.pointee.observers.append(listener)
            if oldState == .included { storage.pointee.oldStateObserverCount += 1 }
            if replay == .current {
                listener.deliver(Change(replay: storage.pointee.state, revision: storage.pointee.revision))
            }
        case .ignore(let listener, let oldState):
            // A listener that was cancelled before its registration is not in the list.
            if storage.pointee.observers.remove(listener), oldState == .included {
                storage.pointee.oldStateObserverCount -= 1
            }
        case .tap(let listener, let moment):
            guard listener.isActive else { return }
            storage.pointee.taps[moment, default: []].append(listener)
            storage.pointee.updateIsPlain()
        case .untap(let listener):
            for (moment, listeners) in storage.pointee.taps {
                let remaining = listeners.filter { $0 !== listener }
                storage.pointee.taps[moment] = remaining.isEmpty ? nil : remaining
            }
            storage.pointee.updateIsPlain()
        case .update(let change, _): processUpdate(change)
        case .start: processStart()
        case .stop:
            storage.pointee.isRunning = false
            storage.pointee.updateIsPlain()
            effects.cancelAll()
        }
    }

    private func processUpdate(_ change: (inout State) -> Void) {
        let old = storage.pointee.oldStateObserverCount == 0 ? nil : storage.pointee.state
        stateLock.lock()
        storage.pointee.revision &+= 1
        change(&storage.pointee.state)
        stateLock.unlock()
        notifyObservers(of: NoAction(), old: old)
    }

    private func processStart() {
        guard !storage.pointee.isRunning else { return }
        storage.pointee.isRunning = true
        storage.pointee.updateIsPlain()
        storage.pointee.starts += 1
        let key = IdempotencyKey(revision: storage.pointee.revision, index: 0, start: storage.pointee.starts)
        effects.start(initialEffect(storage.pointee.state), key: key)
    }

    // MARK: Actions

    @inlinable
    func process(_ action: any Action) {
        guard storage.pointee.isPlain else { return processUnlessStopped(action) }
        if isForMiddleware(action) { warnUnhandled(action) }
        let context = ActionContext(time: reducer.readsContext ? now() : .epoch)
        // A second reference to the state makes its collections copy when they change.
        let old = storage.pointee.oldStateObserverCount == 0 ? nil : storage.pointee.state
        let effect = reduce(action, context: context)
        if !storage.pointee.observers.isEmpty { notifyObservers(of: action, old: old) }
        if !effect.isNone { start(effect) }
    }

    @inlinable
    func reduce(_ action: any Action, context: ActionContext) -> Effect {
        stateLock.lock()
        defer { stateLock.unlock() }
        storage.pointee.revision &+= 1
        return reducer.body(&storage.pointee.state, action, context)
    }

    @inlinable
    func notifyObservers(of action: any Action, old: State?) {
        let revision = storage.pointee.revision
        let change = Change(
            old: old,
            oldRevision: revision &- 1,
            new: storage.pointee.state,
            revision: revision,
            reduced: action
        )
        // The list changes only while other requests are processed. It retains its observers.
        storage.pointee.observers.deliver(change)
    }

    @usableFromInline
    func start(_ effect: Effect) {
        effects.start(effect, key: IdempotencyKey(revision: storage.pointee.revision, index: 0))
    }

    @usableFromInline
    func warnUnhandled(_ action: any Action) { warn(.unhandledByMiddleware(action: type(of: action).name)) }

    @usableFromInline
    func processUnlessStopped(_ action: any Action) {
        guard storage.pointee.isRunning else {
            return warn(.dispatchedWhileStopped(action: type(of: action).name))
        }
        _ = processWithResult(action)
    }

    private func processWithResult(_ action: any Action) -> Result<ActionResult, Rejection> {
        guard storage.pointee.isRunning else {
            let name = type(of: action).name
            return .failure(Rejection(.stopped, "the core is stopped and does not accept \(name): call start()"))
        }
        let context = ActionContext(time: now())
        guard storage.pointee.hasMiddleware else {
            if isForMiddleware(action) { warnUnhandled(action) }
            notify(of: reduceTapped(action, context: context))
            return .success(ActionResult(revision: storage.pointee.revision, value: nil))
        }
        var pending: Reduction?
        let store = MiddlewareStore(context: context, dispatcher: WeakDispatcher(self)) { [self] in
            storage.pointee.state
        }
        let outcome = middleware.pass(action, in: store, warn: warn) { action in
            pending = reduceTapped(action, context: context)
        }
        if let pending { notify(of: pending) }
        return outcome.map { ActionResult(revision: storage.pointee.revision, value: $0) }
    }

    /// A reduced action before its observers are notified.
    private struct Reduction {
        let action: any Action
        let context: ActionContext
        /// Nil if no observer needs it.
        let old: State?
        let effect: Effect
    }

    private func reduceTapped(_ action: any Action, context: ActionContext) -> Reduction {
        notifyTaps(.before, of: action, context: context)
        let old = storage.pointee.oldStateObserverCount == 0 ? nil : storage.pointee.state
        let effect = reduce(action, context: context)
        return Reduction(action: action, context: context, old: old, effect: effect)
    }

    private func notify(of reduction: Reduction) {
        notifyObservers(of: reduction.action, old: reduction.old)
        notifyTaps(.after, of: reduction.action, context: reduction.context)
        if !reduction.effect.isNone { start(reduction.effect) }
    }

    private func notifyTaps(_ moment: TapMoment, of action: any Action, context: ActionContext) {
        guard let listeners = storage.pointee.taps[moment] else { return }
        let tapped = TappedAction(
            action: action,
            context: context,
            state: storage.pointee.state,
            revision: storage.pointee.revision
        )
        for listener in listeners { listener.deliver(tapped) }
    }
}
