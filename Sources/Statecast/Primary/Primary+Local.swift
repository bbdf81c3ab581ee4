/// The primary as its own process sees it: it takes actions and shows its state, as a `Core` does.
extension Primary: ActionDispatcher, CurrentStateSource {
    /// Takes an action in, from any thread, and returns at once.
    ///
    /// It passes the middlewares like any other action, as one of the primary's own process: its context has no session.
    /// Before the start it waits for it; after a stop it is dropped, and logged. If a middleware keeps it back, nobody
    /// hears of it here: ``send(_:)`` says so.
    public func dispatch(_ action: any Action) { entrance.dispatch(action) }

    /// Takes an action in and returns when it is durable and the observers have been told.
    ///
    /// Before the start it waits for it. Not ended by cancelling the task: the action goes on.
    ///
    /// - Throws: ``Rejection`` if a middleware kept it back (its own code, or `swallowed`) or the change cannot be made;
    ///   with code `stopped` if the primary was stopped before its turn came, and `outcome-unknown` if it was stopped
    ///   before the action was known to be durable.
    @discardableResult
    public func send(_ action: any Action) async throws(Rejection) -> Receipt {
        let outcome = await withCheckedContinuation { continuation in
            entrance.enter(.action(.awaited(action) { continuation.resume(returning: $0) }))
        }
        return try outcome.get()
    }

    /// The state as it is published; before the start the one where the store begins.
    ///
    /// It contains what ``send(_:)`` has answered for, and not yet what was only dispatched.
    public var state: State { entrance.state }

    /// Calls `body` for each update that is published from now on, until the subscription is cancelled or dropped.
    ///
    /// An update may be the work of many actions, so the changes name none. Nothing is shown before it is durable.
    /// Registering goes through the same line as actions: what the same thread dispatched before is in the replayed state.
    /// Whoever registers before the start is shown the state at the start. After a restart that begins a new history the
    /// next change leads from the state shown last to the one where it begins, and revisions count anew.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state. Without a replay, the first change may contain actions
    ///     that were dispatched before and were not durable yet.
    ///   - body: called on the loop that serves the sockets, one change at a time: be quick. It may dispatch, observe and
    ///     cancel.
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let observer = Listener(body)
        entrance.enter(.observe(observer, replay: replay))
        // Weakly, so that the callback ends with the primary, whoever holds the subscription.
        return Subscription { [weak entrance, weak observer] in
            if let observer, observer.deactivate() { entrance?.enter(.ignore(observer)) }
        }
    }
}
