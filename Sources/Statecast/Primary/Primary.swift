public import Logging
public import ServiceLifecycle

/// The one process that owns a store: it reduces the actions that senders push, and publishes what changed.
///
/// ```swift
/// let actions: [any Action.Type] = [StepChangeRequested.self]
/// let primary = try Primary(store: "counter", state: Counter(), actions: actions) { state, action in
///     if let action = action as? StepChangeRequested { state.step = action.step }
/// }
/// try await primary.run()
/// ```
///
/// It serves other processes as a `Core` serves its own, with the same reducers, middlewares and effects. Its own
/// process may use it like a core (see ``dispatch(_:)`` and ``observe(replay:_:)``).
///
/// Without a journal, each start begins a new lineage with the initial state. Replicas and senders detect that and
/// continue automatically.
public final class Primary<State: Codable & Equatable & Sendable>: Service, MonitoredNode {
    private let node: PrimaryNode
    private let name: StoreName
    private let mailbox: LocalMailbox<State>

    /// Defines a store on a node of its own.
    ///
    /// - Parameters:
    ///   - store: the store's name, which replicas and senders pass.
    ///   - state: the initial state.
    ///   - actions: the actions that may be sent; others are rejected as `unknown-action`.
    ///   - middleware: the middlewares between senders and the reducer, the first one outermost. A middleware sees the
    ///     sender of an action (`context.session`, `context.user`); the sender receives the ``Rejection`` that it
    ///     throws instead of a receipt. It runs on the loop that serves the sockets. It should decide, and have no side
    ///     effects: if a batch cannot be published, its actions pass the middlewares again, in halves of the batch, so
    ///     an action may pass several times. Only the decisions and dispatches of the last pass count. What it
    ///     dispatches is enqueued when the batch is published.
    ///   - initialEffect: the effect of each start, for example to restart effects that a stop or a crash has ended.
    ///   - journal: stores the history of this store; without one, each start begins a new lineage.
    ///   - evolution: converts the state that another build has left in the journal.
    ///   - reducer: pure and fast, since it runs on the loop that serves the sockets. Its effects run off the loop,
    ///     once their action is durable.
    /// - Throws: ``StatecastError`` with code `definition`: a malformed name, a state that cannot be encoded, two
    ///   actions of one name, a name of an action of more than 256 bytes.
    public convenience init(
        store: String,
        state: State,
        actions: [any Action.Type],
        middleware: [Middleware<State>] = [],
        initialEffect: @escaping @Sendable (_ state: State) -> Effect = { _ in .none },
        journal: (any Journal)? = nil,
        evolution: StateEvolution = StateEvolution(),
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: Reducer<State>
    ) throws(StatecastError) {
        try self.init(
            store: store,
            state: state,
            actions: actions,
            middleware: middleware,
            initialEffect: initialEffect,
            journal: journal,
            evolution: evolution,
            on: try PrimaryNode(configuration: configuration, logger: logger),
            logger: logger,
            reducer: reducer
        )
    }

    /// Defines a store on a node of its own, with a reducer that needs only the state and the action.
    public convenience init(
        store: String,
        state: State,
        actions: [any Action.Type],
        middleware: [Middleware<State>] = [],
        journal: (any Journal)? = nil,
        evolution: StateEvolution = StateEvolution(),
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Void
    ) throws(StatecastError) {
        try self.init(
            store: store,
            state: state,
            actions: actions,
            middleware: middleware,
            journal: journal,
            evolution: evolution,
            configuration: configuration,
            logger: logger,
            reducer: Reducer(reducer)
        )
    }

    /// Defines a store on a node of its own, with a reducer that also returns effects.
    ///
    /// A reducer that reads the time or the sender is a ``Reducer/withContext(_:)``.
    @_disfavoredOverload
    public convenience init(
        store: String,
        state: State,
        actions: [any Action.Type],
        middleware: [Middleware<State>] = [],
        journal: (any Journal)? = nil,
        evolution: StateEvolution = StateEvolution(),
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Effect
    ) throws(StatecastError) {
        try self.init(
            store: store,
            state: state,
            actions: actions,
            middleware: middleware,
            journal: journal,
            evolution: evolution,
            configuration: configuration,
            logger: logger,
            reducer: Reducer(reducer)
        )
    }

    /// Not available; see ``Reducer/withContext(_:)``.
    @available(*, unavailable, message: "write reducer: .withContext { state, action, context in }")
    public convenience init(
        store: String,
        state: State,
        actions: [any Action.Type],
        middleware: [Middleware<State>] = [],
        journal: (any Journal)? = nil,
        evolution: StateEvolution = StateEvolution(),
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action, _ context: ActionContext) -> Effect
    ) throws(StatecastError) {
        try self.init(store: store, state: state, actions: actions, reducer: .withContext(reducer))
    }

    /// Defines a store on a node that several stores share, before the node runs. Run the node, or one of its
    /// primaries.
    public init(
        store: String,
        state: State,
        actions: [any Action.Type],
        middleware: [Middleware<State>] = [],
        initialEffect: @escaping @Sendable (_ state: State) -> Effect = { _ in .none },
        journal: (any Journal)? = nil,
        evolution: StateEvolution = StateEvolution(),
        on node: PrimaryNode,
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: Reducer<State>
    ) throws(StatecastError) {
        let definition = try TypedStore(
            name: store,
            state: state,
            actions: actions,
            reducer: reducer,
            middleware: middleware,
            initialEffect: initialEffect,
            journal: journal,
            evolution: evolution,
            logger: logger
        )
        try node.add(definition)
        name = definition.name
        mailbox = definition.mailbox
        self.node = node
    }

    /// Recovers the store from its journal, binds, and serves until the task is cancelled or the service group shuts
    /// down.
    ///
    /// - Throws: ``StatecastError``: see ``PrimaryNode/run()``.
    public func run() async throws(StatecastError) { try await node.run() }

    /// Read by probes; at most a second old. That of the node, if several stores share it.
    public var health: NodeHealth { node.health }

    /// The bound endpoints, with their ports. Waits until the primary serves: see ``PrimaryNode/address``.
    public var address: PrimaryAddress {
        get async throws { try await node.address }
    }

    /// Binds, and begins to serve, without ``run()``.
    @discardableResult
    package func start() async throws(StatecastError) -> PrimaryAddress { try await node.start() }

    /// Ends what ``start()`` began, or ``run()``.
    package func stop() async { await node.stop() }

    /// The last revision that replicas may have seen; 0 before the start.
    public var revision: Revision {
        get async { await node.position(of: name)?.revision ?? Revision(0) }
    }

    /// Who is connected at present; empty before the start, and without ``PrimaryConfiguration/peers``. Rates are known
    /// only while the list is followed.
    public var peers: Peers {
        get async { await node.peers(of: name) ?? Peers() }
    }

    /// The store's head and its history; `nil` before the start.
    public var position: Position? {
        get async { await node.position(of: name) }
    }
}

/// The primary in its own process: it accepts actions and shows its state, as a `Core` does.
extension Primary: ActionDispatcher, CurrentStateSource {
    /// Enqueues an action, from any thread, and returns at once.
    ///
    /// The action passes the middlewares; its context has no session. Before the start it waits for the start; after a
    /// stop it is dropped, and logged. Of the rejections, the first one with each code is logged; use ``send(_:)`` to
    /// receive them.
    public func dispatch(_ action: any Action) { mailbox.dispatch(action) }

    /// Enqueues an action, and returns when it is durable, is published, and the observers have been called.
    ///
    /// Before the start it waits for the start; cancelling the task then withdraws the action. Later, cancelling
    /// neither ends the wait nor withdraws the action.
    ///
    /// - Throws: ``Rejection`` if a middleware rejects it (its own code, or `swallowed`) or the change is impossible;
    ///   with code `not-sent` if the task was cancelled before the start, `stopped` if the primary was stopped before
    ///   the action was reduced, and `outcome-unknown` if it was stopped before the action was known to be durable.
    @discardableResult
    public func send(_ action: any Action) async throws(Rejection) -> Receipt {
        let caller = AwaitingCaller()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                mailbox.enqueue(.action(.awaited(action, by: caller) { continuation.resume(returning: $0) }))
                // A cancellation before this point found no action to withdraw.
                if Task.isCancelled { mailbox.withdraw(caller) }
            }
        } onCancel: {
            mailbox.withdraw(caller)
        }
        return try outcome.get()
    }

    /// The published state; before the start, the initial state.
    ///
    /// It contains the actions for which ``send(_:)`` has returned, and not yet those that were only dispatched.
    public var state: State { mailbox.state }

    /// Calls `body` for each update that is published, until the subscription is cancelled or dropped, or ``run()``
    /// ends; then `body` is released, sequences end, and further observers receive nothing.
    ///
    /// An update may contain many actions, so its change names none. Updates are durable before they are shown.
    /// Registrations and actions share one queue: the replayed state contains the actions that the same thread
    /// dispatched before. A registration before the start replays the state at the start.
    ///
    /// - Parameters:
    ///   - replay: whether `body` receives the current state first. Without a replay, the first change may contain
    ///     actions that were dispatched before and were not durable yet.
    ///   - body: called on the loop that serves the sockets, for one change at a time, so it must be fast. It may
    ///     dispatch, observe and cancel.
    public func observe(
        replay: Replay = .current,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let observer = Listener(body)
        mailbox.enqueue(.observe(observer, replay: replay))
        // Weak, so that the callback ends with the primary even if the subscription is kept.
        return Subscription { [weak mailbox, weak observer] in
            if let observer, observer.deactivate() { mailbox?.enqueue(.ignore(observer)) }
        }
    }
}
