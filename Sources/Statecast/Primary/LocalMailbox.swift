import StatecastProtocol
import StatecastThreading

/// A request of the primary's own process to a store.
package enum MailboxRequest<State: Sendable>: Sendable {
    case action(MailboxAction)
    case observe(Listener<Change<State>>, replay: Replay)
    case ignore(Listener<Change<State>>)
}

/// An action of the primary's own process.
package enum MailboxAction: Sendable {
    case dispatched(any Action)
    /// - Parameter caller: its identity, to withdraw the action.
    case awaited(any Action, by: AwaitingCaller = AwaitingCaller(), @Sendable (Result<Receipt, Rejection>) -> Void)
    case result(EffectAction)

    var action: any Action {
        switch self {
        case .dispatched(let action), .awaited(let action, _, _): action
        case .result(let result): result.action
        }
    }

    /// Whether it is still to be reduced: the effect that sent it may have been cancelled meanwhile.
    var isWanted: Bool {
        guard case .result(let result) = self else { return true }
        return result.isWanted
    }

    /// Where it comes from, as the engine sees it.
    var origin: LocalAction.Origin {
        switch self {
        case .dispatched: .dispatched
        case .awaited: .awaited
        case .result(let result): .effect(work: result.runNumber, result.id)
        }
    }

    /// Reports the outcome. To be called once.
    func resolve(_ outcome: Result<Receipt, Rejection>) {
        switch self {
        case .dispatched: break
        case .awaited(_, _, let complete): complete(outcome)
        case .result(let result): result.complete()
        }
    }
}

/// The identity of a caller that awaits the outcome of an action.
package final class AwaitingCaller: Sendable {
    package init() {}
}

/// The mailbox through which the primary's own process sends requests to a store, from any thread and at any time.
/// Requests keep their order.
///
/// Requests before the start wait for it. After a stop, actions are refused, and observers receive nothing. Enqueueing
/// costs a lock, not a hop to the loop: the first request in an empty mailbox wakes the loop, which dequeues all of
/// them. The mailbox is unbounded for `dispatch`; `send` limits itself by awaiting.
///
/// User objects are never released under the lock: a callback may own an object whose `deinit` calls the mailbox.
package final class LocalMailbox<State: Sendable>: ActionDispatcher {
    private enum Phase {
        /// Changes to `open` at the start, or to `closed` if the primary is stopped first.
        case notStarted
        /// Changes to `closed`.
        case open(wake: @Sendable () -> Void)
        case closed
    }

    private struct Storage {
        var phase = Phase.notStarted
        var requests: [MailboxRequest<State>] = []

        /// The caller holds the observer, so it is not released here.
        mutating func removeObserver(_ observer: Listener<Change<State>>) {
            requests.removeAll { if case .observe(let other, _) = $0 { other === observer } else { false } }
        }
    }

    private let storage = Locked(Storage())
    private let shown: Locked<State>
    private let onRefusal: @Sendable (any Action) -> Void

    /// - Parameters:
    ///   - state: the initial state.
    ///   - onRefusal: called for an action that was dispatched after the stop, and that no caller awaits.
    init(_ state: State, onRefusal: @escaping @Sendable (any Action) -> Void) {
        shown = Locked(state)
        self.onRefusal = onRefusal
    }

    // MARK: From any thread

    package func dispatch(_ action: any Action) { enqueue(.action(.dispatched(action))) }

    package func enqueue(_ request: MailboxRequest<State>) {
        let (wake, isAccepted): ((@Sendable () -> Void)?, Bool) = storage.withLock { storage in
            if case .closed = storage.phase { return (nil, false) }
            if case .notStarted = storage.phase, case .ignore(let observer) = request {
                storage.removeObserver(observer)
                return (nil, true)
            }
            storage.requests.append(request)
            guard case .open(let wake) = storage.phase, storage.requests.count == 1 else { return (nil, true) }
            return (wake, true)
        }
        wake?()
        if !isAccepted, case .action(let action) = request { refuse(action) }
    }

    /// Withdraws the action of a cancelled caller, if it waits for a start that may never come.
    func withdraw(_ caller: AwaitingCaller) {
        let action = storage.withLock { storage -> MailboxAction? in
            guard case .notStarted = storage.phase else { return nil }
            for (index, request) in storage.requests.enumerated() {
                guard case .action(let action) = request, case .awaited(_, let other, _) = action, other === caller
                else {
                    continue
                }
                storage.requests.remove(at: index)
                return action
            }
            return nil
        }
        action?.resolve(.failure(.notSent(because: "the waiting was cancelled")))
    }

    /// The state that was shown last.
    var state: State { shown.withLock { $0 } }

    // MARK: From the loop

    func show(_ state: State) {
        let former = shown.withLock { shown in
            defer { shown = state }
            return shown
        }
        withExtendedLifetime(former) {}
    }

    /// Opens the mailbox for a store that is served from now on.
    ///
    /// - Parameter wake: called when a request arrives in the empty mailbox.
    func open(wake: @escaping @Sendable () -> Void) { storage.withLock { $0.phase = .open(wake: wake) } }

    var hasRequests: Bool { storage.withLock { !$0.requests.isEmpty } }

    /// Dequeues all requests, in order.
    func dequeueAll() -> [MailboxRequest<State>] {
        storage.withLock { storage in
            defer { storage.requests = [] }
            return storage.requests
        }
    }

    /// Closes the mailbox of a store that is not served any more. Refuses the actions that still wait.
    ///
    /// - Parameter dequeued: requests that were dequeued and not processed.
    func close(returning dequeued: [MailboxRequest<State>] = []) {
        let requests = storage.withLock { storage in
            defer { storage = Storage(phase: .closed) }
            return dequeued + storage.requests
        }
        for case .action(let action) in requests { refuse(action) }
    }

    private func refuse(_ action: MailboxAction) {
        if case .dispatched(let action) = action { onRefusal(action) }
        let name = type(of: action.action).name
        action.resolve(.failure(Rejection(.stopped, "the primary has ended and accepts no \(name)")))
    }
}
