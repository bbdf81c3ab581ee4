internal import ServiceLifecycle

/// Runs a primary for the duration of a closure: for scripts and tests. A service runs ``Primary/run()`` in a service
/// group.
///
/// ```swift
/// try await withPrimary(Primary(store: "counter", state: Counter(), actions: actions, reducer: reducer)) { primary in
///     print("serves at", try await primary.address.publish)
///     try await primary.send(CounterIncreaseRequested())
/// }
/// ```
///
/// - Throws: the error of ``Primary/run()``; otherwise the error that the closure throws.
public func withPrimary<State: Codable & Equatable & Sendable, Result>(
    _ primary: Primary<State>,
    _ body: (Primary<State>) async throws -> Result
) async throws -> Result {
    try await withRunning(primary, body)
}

/// Runs a replica for the duration of a closure: for scripts and tests. A service runs ``Replica/run()`` in a service
/// group.
///
/// ```swift
/// try await withReplica(Replica<Counter>(store: "counter", from: "tcp://127.0.0.1:7100")) { replica in
///     for await state in replica.states { print(state) }
/// }
/// ```
///
/// - Throws: the error of ``Replica/run()``; otherwise the error that the closure throws.
public func withReplica<State: Sendable, Result>(
    _ replica: Replica<State>,
    _ body: (Replica<State>) async throws -> Result
) async throws -> Result {
    try await withRunning(replica, body)
}

/// Runs a sender for the duration of a closure: for scripts and tests. A service runs ``ActionSender/run()`` in a
/// service group. Wait for the receipts before the closure returns: what has none by then is given up.
///
/// ```swift
/// try await withSender(ActionSender(store: "counter", from: "tcp://127.0.0.1:7100")) { sender in
///     try await sender.send(CounterIncreaseRequested())
/// }
/// ```
///
/// - Throws: the error of ``ActionSender/run()``; otherwise the error that the closure throws.
public func withSender<Result>(
    _ sender: ActionSender,
    _ body: (ActionSender) async throws -> Result
) async throws -> Result {
    try await withRunning(sender, body)
}

/// Runs a node beside `body`. A node that fails ends what `body` waits for: its sequences, receipts and address. Its
/// failure explains that of `body`, so it is thrown instead.
private func withRunning<Node: Service, Result>(
    _ node: Node,
    _ body: (Node) async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await node.run() }
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(node)) } catch { result = .failure(error) }
        group.cancelAll()
        try await group.waitForAll()
        return try result.get()
    }
}
