/// The replica as its own process sees it: a state that changes.
extension Replica: StateSource {
    /// Calls `body` for each state that is shown from now on, until the subscription is cancelled or dropped.
    ///
    /// A change leads from the state shown last to the one shown next, however many actions lie between: a replica sees
    /// changes, not actions. Where the replica meets another history, or starts over from a snapshot, that too is a change
    /// from what was shown last, and the new revision may be the lower one.
    ///
    /// A replica that was closed tells nobody: `body` is released, at once or as soon as the state that is being shown
    /// has been shown, and sequences like `changes(replay:bufferedMax:)` end.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state; if there is none yet, the first one.
    ///   - body: called one change at a time, on no particular thread; states that come meanwhile wait for it and become
    ///     one. It may observe and cancel.
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let observer = Listener(body)
        lobby.join(observer, replay: replay)
        queue.nudge()
        // Weakly, so that the callback ends with the replica, whoever holds the subscription.
        return Subscription { [weak lobby, weak queue, weak observer] in
            guard let observer, observer.deactivate() else { return }
            lobby?.leave(observer)
            queue?.nudge()
        }
    }
}
