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
/// Without a journal each start begins a new lineage: replicas and senders notice and go on by themselves, and the state
/// begins at `state` again.
public final class Primary<State: Codable & Equatable & Sendable>: Service {
    private let node: PrimaryNode
    private let name: StoreName

    /// Defines a store on a node of its own.
    ///
    /// - Parameters:
    ///   - store: the store's name, as replicas and senders give it.
    ///   - state: where the store begins.
    ///   - actions: the actions that may be sent; others are rejected as `unknown-action`.
    ///   - reducer: pure, and quick: it runs on the loop that serves the sockets.
    /// - Throws: ``StatecastError`` with code `definition`: a malformed name, a state that cannot be encoded, two actions
    ///   of one name.
    public convenience init(
        store: String,
        state: State,
        actions: [any Action.Type],
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: Reducer<State>
    ) throws {
        let node = try PrimaryNode(configuration: configuration, logger: logger)
        try self.init(store: store, state: state, actions: actions, on: node, logger: logger, reducer: reducer)
    }

    /// Defines a store on a node of its own, with a reducer that needs no more than the action.
    public convenience init(
        store: String,
        state: State,
        actions: [any Action.Type],
        configuration: PrimaryConfiguration = PrimaryConfiguration(),
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: @escaping @Sendable (_ state: inout State, _ action: any Action) -> Void
    ) throws {
        try self.init(
            store: store,
            state: state,
            actions: actions,
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
        on node: PrimaryNode,
        logger: Logger = Logger(label: "statecast.primary"),
        reducer: Reducer<State>
    ) throws {
        let definition = try TypedStore(name: store, state: state, actions: actions, reducer: reducer, logger: logger)
        try node.add(definition)
        name = definition.name
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

    /// Closes the sockets.
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
