internal import Threading

/// The way into a store for the primary's own process: from any thread, in order, at any time.
///
/// What comes before the start waits for it. After a stop actions are refused, and observers wait for the next start.
/// Taking something in costs a lock, not a hop to the loop: the loop is woken once for all that gathers until it comes.
/// Nothing here bounds what gathers; whoever awaits its actions is held back by that.
///
/// Nothing of its users is released under its locks: what a callback holds may come back here when it ends.
final class LocalEntrance<State: Sendable>: ActionDispatcher {
    private enum Phase {
        /// Leaves to `open` at the start, or to `closed` if it is stopped first.
        case ahead
        /// Leaves to `closed`.
        case open(wake: @Sendable () -> Void)
        /// Leaves to `open` when it is started again.
        case closed
    }

    private struct Storage {
        var phase = Phase.ahead
        var requests: [LocalRequest<State>] = []
        /// Kept from a stop to the next start; meanwhile the store has it.
        var audience = Audience<State>()

        /// Puts a request by until the next start. Nobody drains meanwhile, so whoever asks not to be told any more takes
        /// back what it asked for; whoever calls this holds the observer, so it does not end here.
        mutating func keep(_ request: LocalRequest<State>) {
            switch request {
            case .action:
                if case .ahead = phase { requests.append(request) }
            case .observe(let observer, _):
                if observer.isActive { requests.append(request) }
            case .ignore(let observer):
                audience.leave(observer)
                let waiting = requests.lastIndex { request in
                    if case .observe(let other, _) = request { other === observer } else { false }
                }
                if let waiting { requests.remove(at: waiting) }
            }
        }
    }

    private let storage = Locked(Storage())
    private let shown: Locked<State>
    private let refused: @Sendable (any Action) -> Void

    /// - Parameters:
    ///   - state: where the store begins.
    ///   - refused: is told of an action that nobody waits for and that comes after the stop.
    init(_ state: State, refused: @escaping @Sendable (any Action) -> Void) {
        shown = Locked(state)
        self.refused = refused
    }

    // MARK: From any thread

    func dispatch(_ action: any Action) { enter(.action(.dispatched(action))) }

    func enter(_ request: LocalRequest<State>) {
        let (wake, isTaken): ((@Sendable () -> Void)?, Bool) = storage.withLock { storage in
            if case .action = request, case .closed = storage.phase { return (nil, false) }
            guard case .open(let wake) = storage.phase else {
                storage.keep(request)
                return (nil, true)
            }
            storage.requests.append(request)
            return (storage.requests.count == 1 ? wake : nil, true)
        }
        wake?()
        if !isTaken, case .action(let action) = request { drop(action) }
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

    /// The store is served from now on.
    ///
    /// - Parameter wake: is called when something came in and the loop does not know of it yet.
    func open(wake: @escaping @Sendable () -> Void) -> Audience<State> {
        storage.withLock { storage in
            storage.phase = .open(wake: wake)
            defer { storage.audience = Audience() }
            return storage.audience
        }
    }

    /// Whether something waits to be drained.
    var hasRequests: Bool { storage.withLock { !$0.requests.isEmpty } }

    /// Hands over what has gathered, in order.
    func drain() -> [LocalRequest<State>] {
        storage.withLock { storage in
            defer { storage.requests = [] }
            return storage.requests
        }
    }

    /// The store is not served any more: drops the actions that still wait, with those that were drained and not taken.
    func close(keeping audience: Audience<State>? = nil, leaving drained: [LocalRequest<State>] = []) {
        let (left, former) = storage.withLock { storage in
            let former = storage.audience
            storage.phase = .closed
            if let audience { storage.audience = audience }
            let left = drained + storage.requests
            storage.requests = []
            for request in left { storage.keep(request) }
            return (left, former)
        }
        for case .action(let action) in left { drop(action) }
        withExtendedLifetime((left, former)) {}
    }

    private func drop(_ action: LocalAction) {
        if case .dispatched(let action) = action { refused(action) }
        let name = type(of: action.action).name
        action.settle(.failure(Rejection(.stopped, "the primary was stopped and takes no \(name): start it again")))
    }
}
