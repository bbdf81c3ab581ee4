public import StatecastThreading

/// Owns one state in this process: queues actions, reduces them one at a time, notifies observers and starts effects.
///
/// Actions go through one serial queue, which the dispatching thread drains unless another thread already does. A
/// dispatch to an idle core is therefore applied when it returns. A dispatch from an observer or the reducer, or while
/// another thread drains, is queued. Actions are never re-entered and never reordered.
///
/// The order for each action is: middlewares, taps before, the reducer, observers in order of registration, taps after,
/// effects, the task that awaits the action.
///
/// ```swift
/// let core = Core(Counter(), reducer: Counter.reducer)
/// let subscription = core.observe { change in print(change.new) }
/// core.dispatch(CounterIncreaseRequested())
/// ```
///
/// The core holds no lock while an observer, a tap or a middleware runs. While the reducer runs, other threads that
/// read ``state`` wait, and the reducer itself must not read it. The state is changed in place; its old value is kept,
/// and its collections are copied on write, only if an observer needs the old value.
public final class Core<State: Sendable>: CurrentStateSource, ActionDispatcher {
    @usableFromInline let queue = SerialDrainQueue<Request>()
    /// Safe: only the drainer accesses it. Other threads read the state in it while they hold `stateLock`, and the
    /// drainer changes the state while it holds `stateLock`.
    @usableFromInline nonisolated(unsafe) let storage: UnsafeMutablePointer<Storage>
    @usableFromInline let stateLock = Lock(
        onRecursion: "a reducer reads the state of its own core: use the state that the reducer receives"
    )
    @usableFromInline let reducer: Reducer<State>
    @usableFromInline let now: @Sendable () -> Timestamp
    let middleware: MiddlewareChain<State>
    let initialEffect: @Sendable (State) -> Effect
    let warn: @Sendable (RuntimeWarning) -> Void
    @usableFromInline let maxDrainedRequests: Int
    let maxFollowUps: Int
    let effects: EffectRunner

    /// Creates a core with a state at revision 0.
    ///
    /// ```swift
    /// let core = Core(App(), reducer: App.reducer, initialEffect: { _ in .dispatch(Loaded()) }, start: .onDemand)
    /// let subscription = core.observe { change in print(change.new) }
    /// core.start()
    /// ```
    ///
    /// - Parameters:
    ///   - state: the initial state.
    ///   - reducer: the only code that changes the state.
    ///   - middleware: processes each action before the reducer; the first one is outermost.
    ///   - now: the clock; read once for each action, when the core processes it.
    ///   - initialEffect: the effect of each start, given the state.
    ///   - start: when the core starts to accept actions.
    ///   - warn: handles runtime warnings; writes a line to standard error by default.
    public convenience init(
        _ state: State,
        reducer: Reducer<State>,
        middleware: [Middleware<State>] = [],
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        initialEffect: @escaping @Sendable (_ state: State) -> Effect = { _ in .none },
        start: CoreStart = .immediate,
        warn: @escaping @Sendable (RuntimeWarning) -> Void = RuntimeWarning.writeToStandardError
    ) {
        self.init(
            state,
            reducer: reducer,
            middleware: middleware,
            now: now,
            initialEffect: initialEffect,
            start: start,
            warn: warn,
            maxDrainedRequests: 256
        )
    }

    /// Creates a core with a reducer that needs only the state and the action.
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

    /// Creates a core with a reducer that also returns effects.
    ///
    /// ```swift
    /// let core = Core(Library()) { library, action in
    ///     guard action is LoadRequested else { return .none }
    ///     library.isLoading = true
    ///     return .run { send in await send(BooksLoaded(books: await shelf.books())) }
    /// }
    /// ```
    ///
    /// A reducer that reads the time or the sender is a ``Reducer/withContext(_:)``.
    @_disfavoredOverload
    public convenience init(
        _ state: State,
        middleware: [Middleware<State>] = [],
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Effect
    ) {
        self.init(state, reducer: Reducer(reducer), middleware: middleware)
    }

    /// Not available; see ``Reducer/withContext(_:)``.
    @available(*, unavailable, message: "write reducer: .withContext { state, action, context in }")
    public convenience init(
        _ state: State,
        middleware: [Middleware<State>] = [],
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) {
        self.init(state, reducer: .withContext(reducer), middleware: middleware)
    }

    /// - Parameters:
    ///   - maxDrainedRequests: the number of requests, its own included, that a dispatching thread processes before
    ///     another thread continues, so that a busy core cannot capture a thread such as the main one.
    ///   - maxFollowUps: the number of follow-up actions without any request from outside that raises a warning. The
    ///     limit on the depth alone does not detect actions that are each answered by several.
    init(
        _ state: State,
        reducer: Reducer<State>,
        middleware: [Middleware<State>] = [],
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        initialEffect: @escaping @Sendable (_ state: State) -> Effect = { _ in .none },
        start: CoreStart = .immediate,
        warn: @escaping @Sendable (RuntimeWarning) -> Void = RuntimeWarning.writeToStandardError,
        maxDrainedRequests: Int,
        maxFollowUps: Int = 1_000_000
    ) {
        precondition(maxDrainedRequests > 0, "maxDrainedRequests must be positive, is \(maxDrainedRequests)")
        storage = .allocate(capacity: 1)
        storage.initialize(to: Storage(state: state, hasMiddleware: !middleware.isEmpty))
        self.reducer = reducer
        self.middleware = MiddlewareChain(middleware)
        self.now = now
        self.initialEffect = initialEffect
        self.warn = warn
        self.maxDrainedRequests = maxDrainedRequests
        self.maxFollowUps = maxFollowUps
        let reference = Locked(WeakReference())
        effects = EffectRunner { result in
            guard let core = reference.withLock({ $0.core }) else { return result.complete() }
            core.submit(.result(result, depth: core.depthOfNext { type(of: result.action).name }))
        }
        reference.withLock { $0.core = self }
        if start == .immediate { submit(.start) }
    }

    /// How the core's own effects refer to it without keeping it alive.
    private struct WeakReference {
        weak var core: Core?
    }

    deinit {
        effects.cancelAll()
        storage.pointee.observers.removeAll()
        storage.deinitialize(count: 1)
        storage.deallocate()
    }

    /// The state after the last reduced action.
    public var state: State {
        stateLock.lock()
        defer { stateLock.unlock() }
        return storage.pointee.state
    }

    // MARK: Actions

    /// Enqueues an action.
    ///
    /// If no other thread drains the queue, this applies the action, notifies the observers, and does the same for the
    /// actions that they dispatch, before it returns. A long queue continues on another thread.
    ///
    /// If a middleware rejects the action, this does not report it; `send(_:)` does.
    @inlinable
    public func dispatch(_ action: any Action) {
        guard queue.beginDraining() else { return dispatchQueued(action) }
        storage.pointee.begin(atDepth: 0)
        process(action)
        if !queue.endDraining() { drainRemaining() }
    }

    /// Enqueues an action and returns after it is applied and its observers are notified.
    ///
    /// - Throws: the ``Rejection`` of a middleware, with its own code or `swallowed`, or with code `stopped`.
    @discardableResult
    // Disfavored, so that the compiler prefers the overload for thunks, which returns their value.
    @_disfavoredOverload
    public func send(_ action: any Action) async throws(Rejection) -> ActionResult {
        if queue.isDrainedByCaller { warn(.awaitedWhileDraining(action: type(of: action).name)) }
        let result = await withCheckedContinuation { continuation in
            let depth = depthOfNext { type(of: action).name }
            submit(.awaited(action, { continuation.resume(returning: $0) }, depth: depth))
        }
        return try result.get()
    }

    /// Runs a thunk and returns its value.
    ///
    /// ```swift
    /// let isEmpty = try await core.send(Thunk<Cart, Bool> { $0.state.items.isEmpty })
    /// ```
    ///
    /// - Throws: the ``Rejection`` that the thunk or a middleware throws; code `swallowed` if no ``Middleware/thunk``
    ///   ran it.
    @discardableResult
    public func send<Value: Sendable>(_ thunk: Thunk<State, Value>) async throws(Rejection) -> Value {
        let action: any Action = thunk
        let result = try await send(action)
        guard let answer = result.value, let value = answer as? Value else {
            throw Rejection.unanswered(thunk, by: result.value)
        }
        return value
    }

    // MARK: Observing

    /// Calls `body` for each reduced action until the subscription is cancelled or dropped.
    ///
    /// Registration goes through the same queue as actions: the replayed state contains every action dispatched before,
    /// and every later action is delivered as a change.
    ///
    /// - Parameters:
    ///   - replay: whether `body` first receives the current state.
    ///   - body: runs on the draining thread, for one change at a time. It may dispatch, observe and cancel.
    public func observe(
        replay: Replay = .current,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        observe(replay: replay, oldState: .included, body)
    }

    /// Calls `body` for each reduced action, with or without ``Change/old``.
    ///
    /// If no observer needs the old state, the core does not retain it and changes collections in place.
    ///
    /// - Parameters:
    ///   - replay: whether `body` first receives the current state.
    ///   - oldState: whether the changes must include the old state.
    ///   - body: runs on the draining thread, for one change at a time. It may dispatch, observe and cancel.
    public func observe(
        replay: Replay = .current,
        oldState: OldState,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let listener = Listener(body)
        submit(.observe(listener, replay: replay, oldState: oldState))
        // Weak references, so that the callback is released with the core even if the subscription is still held.
        return Subscription { [weak self, weak listener] in
            if let listener, listener.deactivate() { self?.submit(.ignore(listener, oldState: oldState)) }
        }
    }

    /// Calls `body` for each action that reaches the reducer, just before or after; there is no replay.
    public func tap(
        _ moment: TapMoment,
        _ body: @escaping @Sendable (TappedAction<State>) -> Void
    ) -> Subscription {
        let listener = Listener(body)
        submit(.tap(listener, moment))
        // Weak references, so that the callback is released with the core even if the subscription is still held.
        return Subscription { [weak self, weak listener] in
            if let listener, listener.deactivate() { self?.submit(.untap(listener)) }
        }
    }

    // MARK: Life

    /// Accepts actions from now on and starts the initial effect. Does nothing on a running core.
    public func start() { submit(.start) }

    /// Cancels all effects and rejects actions until ``start()``. State and observers remain.
    ///
    /// The core still reduces actions that were dispatched before.
    public func stop() { submit(.stop) }

    /// Replaces the state, in queue order, as a change without an action.
    public func replace(_ state: State) { update { $0 = state } }

    /// Changes the state, in queue order, without an action.
    @usableFromInline
    func update(_ change: @escaping @Sendable (inout State) -> Void) {
        submit(.update(change, depth: depthOfNext { "a replaced state" }))
    }
}

/// When a core starts to accept actions.
public enum CoreStart: Sendable {
    /// When its initializer returns.
    case immediate
    /// When ``Core/start()`` is called. Observers that are added before see the initial state and every change.
    case onDemand
}

/// The result of an awaited action that was applied.
public struct ActionResult: Sendable {
    /// The first revision that contains the action; the current one if a middleware answered instead of the reducer.
    public let revision: UInt64
    /// The value that a middleware, such as the one for thunks, answered with, or nil.
    public let value: (any Sendable)?
}
