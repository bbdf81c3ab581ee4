public import Logging
public import ServiceLifecycle

/// The one process that owns a store: it reduces the actions that senders push, and publishes what changed.
///
/// ```swift
/// let primary = try Primary(store: "counter", state: Counter(), actions: [StepChangeRequested.self]) { state, action in
///     if let action = action as? StepChangeRequested { state.step = action.step }
/// }
/// try await primary.run()
/// ```
///
/// It is to other processes what a `Core` is to its own, with the same reducers, middlewares and effects; the process
/// that it lives in may use it like one (see ``dispatch(_:)`` and ``observe(replay:_:)``).
///
/// Without a journal each start begins a new lineage: replicas and senders notice and go on by themselves, and the state
/// begins at `state` again.
public final class Primary<State: Codable & Equatable & Sendable>: Service {
    private let node: PrimaryNode
    private let name: StoreName
    let entrance: LocalEntrance<State>

    /// Defines a store on a node of its own.
    ///
    /// - Parameters:
    ///   - store: the store's name, as replicas and senders give it.
    ///   - state: where the store begins.
    ///   - actions: the actions that may be sent; others are rejected as `unknown-action`.
    ///   - middleware: what stands between whoever sends and the reducer, the first one outermost. It sees who sent an
    ///     action (`context.session`, `context.user`); the ``Rejection`` that it throws reaches the sender in place of a
    ///     receipt. It runs on the loop that serves the sockets. It is to decide, not to do: where what came in together
    ///     cannot be published, each of those actions is passed again, for itself, and only what the last pass decides and
    ///     dispatches counts.
    ///   - initialEffect: what is to be done at each start, going by the state, such as the effects that a stop or a crash
    ///     cut off.
    ///   - reducer: pure, and quick: it runs on the loop that serves the sockets. Its effects run beside it, once their
    ///     action is durable.
    ///   - journal: where its history is kept, for this store alone; without one each start begins a new lineage.
    ///   - evolution: how what another build left in the journal becomes this build's state.
    /// - Throws: ``StatecastError`` with code `definition`: a malformed name, a state that cannot be encoded, two actions
    ///   of one name.
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
    ) throws {
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

    /// Defines a store on a node of its own, with a reducer that needs no more than the action.
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
    ) throws {
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

    /// Defines a store on a node that it shares with others; run the node then, or any one of its primaries.
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
    ) throws {
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
        entrance = definition.entrance
        self.node = node
    }

    /// Binds, unless that is done, and serves until the task is cancelled or the service group shuts down.
    ///
    /// - Throws: ``StatecastError``: one line that says which endpoint cannot be bound, and what to do.
    public func run() async throws { try await node.run() }

    /// Binds, and begins to serve.
    ///
    /// - Returns: where it is bound, ports filled in.
    @discardableResult
    public func start() async throws -> PrimaryAddress { try await node.start() }

    /// Closes the sockets, and ends all effects. What was dispatched before is done before.
    public func stop() async { await node.stop() }

    /// The last revision that replicas may have seen; 0 before the start.
    public var revision: Revision {
        get async { await node.head(of: name) ?? Revision(0) }
    }

    /// Where the store stands, in which history; `nil` before the start.
    public var position: Position? {
        get async { await node.position(of: name) }
    }
}
