import ServiceLifecycle

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
/// If the primary ends first, because it fails or the service group shuts down, the closure's task is cancelled.
///
/// - Throws: the error of ``Primary/run()``; otherwise the error that the closure throws.
@discardableResult
public func withPrimary<State: Codable & Equatable & Sendable, Result: Sendable>(
    _ primary: Primary<State>,
    _ body: @escaping @Sendable (Primary<State>) async throws -> Result
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
/// If the replica ends first, because it fails or the service group shuts down, the closure's task is cancelled.
///
/// - Throws: the error of ``Replica/run()``; otherwise the error that the closure throws.
@discardableResult
public func withReplica<State: Sendable, Result: Sendable>(
    _ replica: Replica<State>,
    _ body: @escaping @Sendable (Replica<State>) async throws -> Result
) async throws -> Result {
    try await withRunning(replica, body)
}

/// Runs a sender for the duration of a closure: for scripts and tests. A service runs ``ActionSender/run()`` in a
/// service group. Wait for the receipts before the closure returns. Actions without a receipt by then are given up.
///
/// ```swift
/// try await withSender(ActionSender(store: "counter", from: "tcp://127.0.0.1:7100")) { sender in
///     try await sender.send(CounterIncreaseRequested())
/// }
/// ```
///
/// If the sender ends first, because it fails or the service group shuts down, the closure's task is cancelled.
///
/// - Throws: the error of ``ActionSender/run()``; otherwise the error that the closure throws.
@discardableResult
public func withSender<Result: Sendable>(
    _ sender: ActionSender,
    _ body: @escaping @Sendable (ActionSender) async throws -> Result
) async throws -> Result {
    try await withRunning(sender, body)
}

/// Runs a node beside `body`; the end of one cancels the other. The failure of the node is thrown instead of that of
/// `body`, since it explains it.
private func withRunning<Node: Service, Result: Sendable>(
    _ node: Node,
    _ body: @escaping @Sendable (Node) async throws -> Result
) async throws -> Result {
    // An element is the outcome of the body, or the failure of the node.
    typealias End = (result: Swift.Result<Result, any Error>?, failure: (any Error)?)
    let end = await withTaskGroup(of: End.self) { group in
        group.addTask {
            do {
                try await node.run()
                return (nil, nil)
            } catch {
                return (nil, error)
            }
        }
        group.addTask {
            do { return (.success(try await body(node)), nil) } catch { return (.failure(error), nil) }
        }
        var both: End = (nil, nil)
        for await one in group {
            group.cancelAll()
            both = (one.result ?? both.result, one.failure ?? both.failure)
        }
        return both
    }
    if let failure = end.failure { throw failure }
    guard let result = end.result else { preconditionFailure("the body has no outcome") }
    return try result.get()
}
