internal import Locking

/// Keeps one state in this process: takes actions in, reduces them one by one, tells observers, starts effects.
///
/// Actions go through one line, taken by the thread that dispatches while nobody else does. So a dispatch on an idle
/// core is applied when it returns; a dispatch from an observer, from the reducer, or while another thread is at it, is
/// queued, and applied in its turn. Nothing is re-entered and nothing is reordered.
///
/// For each action: middlewares, taps before, the reducer, the observers in the order of their registration, taps after,
/// effects, whoever awaits the action.
///
/// ```swift
/// let core = Core(Counter(), reducer: Counter.reducer)
/// let subscription = core.observe { change in print(change.new) }
/// core.dispatch(CounterIncreaseRequested())
/// ```
///
/// No lock is held while an observer, a tap or a middleware runs. The reducer has the state to itself: another thread
/// that reads `state` meanwhile waits for it, and the reducer, which was handed the state, must not read `state`. The
/// state is changed in place; its old value is kept, and its collections copied where they change, only if there are
/// observers to be shown it.
public final class Core<State: Sendable>: StateSource, ActionDispatcher {
    @usableFromInline let line = TurnLine<Request>()
    /// Safe: touched by the drainer only, of whom there is one at a time; the state in it is also read by others, with `stateLock` held, so the
    /// drainer holds it while it changes the state.
    @usableFromInline nonisolated(unsafe) let kept: UnsafeMutablePointer<Kept>
    @usableFromInline let stateLock = InlineLock(
        onRecursion: "a reducer reads the state of its own core, which waits for it: use the state that it was handed"
    )
    @usableFromInline let reducer: Reducer<State>
    @usableFromInline let now: @Sendable () -> Timestamp
    let middleware: [Middleware<State>]
    let initialEffect: @Sendable (State) -> Effect
    let misuse: @Sendable (Misuse) -> Void
    @usableFromInline let turnsInARowMax: Int
    let answersMax: Int
    let effects: EffectRunner

    /// A core with a state, at revision 0.
    ///
    /// ```swift
    /// let core = Core(App(), reducer: App.reducer, initialEffect: { _ in .dispatch(Loaded()) }, startsImmediately: false)
    /// let subscription = core.observe { change in print(change.new) }
    /// core.start()
    /// ```
    ///
    /// - Parameters:
    ///   - state: the initial state.
    ///   - reducer: what changes it.
    ///   - middleware: what stands between those who dispatch and the reducer, the first one outermost.
    ///   - now: the clock; asked once for each action, as its turn comes.
    ///   - initialEffect: what is to be done at each start, going by the state.
    ///   - startsImmediately: whether the core runs when this returns. If not, it takes actions and starts the initial effect
    ///     from ``start()`` on, and what observes it before sees the initial state and every change.
    ///   - misuse: what is done about misuse; by default a line on standard error.
    public convenience init(
        _ state: State,
        reducer: Reducer<State>,
        middleware: [Middleware<State>] = [],
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        initialEffect: @escaping @Sendable (_ state: State) -> Effect = { _ in .none },
        startsImmediately: Bool = true,
        misuse: @escaping @Sendable (Misuse) -> Void = Misuse.writeToStandardError
    ) {
        self.init(
            state,
            reducer: reducer,
            middleware: middleware,
            now: now,
            initialEffect: initialEffect,
            startsImmediately: startsImmediately,
            misuse: misuse,
            turnsInARowMax: 256
        )
    }

    /// A core with a reducer that needs no more than the action.
    ///
    /// ```swift
    /// let core = Core(0) { count, action in
    ///     if action is IncreaseRequested { count += 1 }
    /// }
    /// ```
    public convenience init(
        _ state: State,
        middleware: [Middleware<State>] = [],
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Void
    ) {
        self.init(state, reducer: Reducer(reducer), middleware: middleware)
    }

    /// - Parameter turnsInARowMax: after so many turns, its own included, or some milliseconds, a dispatching thread hands
    ///   what still waits to another thread, so that a busy core cannot capture a thread that has other things to do.
    /// - Parameter answersMax: so many answers may come without anything from outside before that is reported: where each
    ///   action is answered by several, they are never done, however short the way to each.
    init(
        _ state: State,
        reducer: Reducer<State>,
        middleware: [Middleware<State>] = [],
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        initialEffect: @escaping @Sendable (_ state: State) -> Effect = { _ in .none },
        startsImmediately: Bool = true,
        misuse: @escaping @Sendable (Misuse) -> Void = Misuse.writeToStandardError,
        turnsInARowMax: Int,
        answersMax: Int = 1_000_000
    ) {
        precondition(turnsInARowMax > 0, "turnsInARowMax must be positive, is \(turnsInARowMax)")
        kept = .allocate(capacity: 1)
        kept.initialize(to: Kept(state: state, hasMiddleware: !middleware.isEmpty))
        self.reducer = reducer
        self.middleware = middleware
        self.now = now
        self.initialEffect = initialEffect
        self.misuse = misuse
        self.turnsInARowMax = turnsInARowMax
        self.answersMax = answersMax
        let entrance = Entrance<State>()
        effects = EffectRunner { result in
            guard let core = entrance.core else { return result.settle() }
            core.enter(.result(result, depth: core.depthOfNext { type(of: result.action).name }))
        }
        entrance.open(self)
        if startsImmediately { enter(.start) }
    }

    deinit {
        effects.cancelAll()
        kept.pointee.observers.removeAll()
        kept.deinitialize(count: 1)
        kept.deallocate()
    }

    /// The state after the last action that was reduced.
    public var state: State {
        stateLock.lock()
        defer { stateLock.unlock() }
        return kept.pointee.state
    }

    // MARK: Actions

    /// Takes an action in.
    ///
    /// If nobody else is at work it is applied, and its observers have been told, on return, along with what they
    /// dispatched in turn; otherwise it is queued. A long queue is handed to another thread.
    ///
    /// If a middleware keeps the action back, nobody hears of it here: `send(_:)` says so.
    @inlinable
    public func dispatch(_ action: any Action) {
        guard line.enter() else { return dispatchLater(action) }
        kept.pointee.begin(atDepth: 0)
        take(action)
        if !line.leave() { drainOn() }
    }

    /// Takes an action in and returns when it has been applied and its observers have been told.
    ///
    /// - Returns: the revision that it made, and the value that a middleware answered with.
    /// - Throws: ``Rejection`` if a middleware kept it back (its own code, or `swallowed`), or with code `stopped`.
    @discardableResult
    // Disfavored, so that the overload for thunks is chosen, which returns their value.
    @_disfavoredOverload
    public func send(_ action: any Action) async throws(Rejection) -> Reply {
        if line.isDrainedHere { misuse(.awaitedWhileDraining(action: type(of: action).name)) }
        let result = await withCheckedContinuation { continuation in
            enter(
                .awaited(action, { continuation.resume(returning: $0) }, depth: depthOfNext { type(of: action).name })
            )
        }
        return try result.get()
    }

    /// Runs a thunk in its turn and returns its value.
    ///
    /// ```swift
    /// let isEmpty = try await core.send(Thunk<Cart, Bool> { $0.state.items.isEmpty })
    /// ```
    ///
    /// - Throws: the ``Rejection`` that the thunk or a middleware throws; with code `swallowed` if no ``Middleware/thunk``
    ///   ran it.
    @discardableResult
    public func send<Value: Sendable>(_ thunk: Thunk<State, Value>) async throws(Rejection) -> Value {
        let action: any Action = thunk
        let reply = try await send(action)
        guard let answer = reply.value, let value = answer as? Value else {
            throw Rejection.unanswered(thunk, by: reply.value)
        }
        return value
    }

    // MARK: Observing

    /// Calls `body` for each action reduced from now on, until the subscription is cancelled or dropped.
    ///
    /// Registering goes through the same line as actions: every action dispatched before is already in the replayed
    /// state, every later one is delivered as a change.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state.
    ///   - body: called on the thread that drains, one change at a time. It may dispatch, observe and cancel.
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        observe(replay: replay, needsOld: true, body)
    }

    /// Calls `body` for each action reduced from now on, with or without ``Change/old``.
    ///
    /// If no observer needs the old state, the core does not retain it and changes collections in place.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state.
    ///   - needsOld: whether ``Change/old`` must be there.
    ///   - body: called on the thread that drains, one change at a time. It may dispatch, observe and cancel.
    public func observe(
        replay: Bool = true,
        needsOld: Bool,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let listener = Listener(body)
        enter(.observe(listener, replay: replay, needsOld: needsOld))
        // Weakly, so that the callback ends with the core, whoever holds the subscription.
        return Subscription { [weak self, weak listener] in
            if let listener, listener.deactivate() { self?.enter(.ignore(listener, needsOld: needsOld)) }
        }
    }

    /// Calls `body` for each action that reaches the reducer from now on, just before or after; there is no replay.
    public func tap(
        _ moment: TapMoment,
        _ body: @escaping @Sendable (TappedAction<State>) -> Void
    ) -> Subscription {
        let listener = Listener(body)
        enter(.tap(listener, moment))
        // Weakly, so that the callback ends with the core, whoever holds the subscription.
        return Subscription { [weak self, weak listener] in
            if let listener, listener.deactivate() { self?.enter(.untap(listener)) }
        }
    }

    // MARK: Life

    /// Takes actions from now on, and starts the initial effect. Does nothing on a core that runs.
    public func start() { enter(.start) }

    /// Ends all effects; actions are rejected until ``start()``. The state stays, and observers stay.
    ///
    /// Actions dispatched before are reduced before.
    public func stop() { enter(.stop) }

    /// Puts another state in place of the current one, in its turn, as a change without an action.
    public func replace(_ state: State) { update { $0 = state } }

    /// Changes the state in its turn without an action: what scopes write with.
    @usableFromInline
    func update(_ change: @escaping @Sendable (inout State) -> Void) {
        enter(.update(change, depth: depthOfNext { "a replaced state" }))
    }
}
