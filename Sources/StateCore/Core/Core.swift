import Synchronization

/// Keeps one state in this process: takes actions in, reduces them one by one, tells observers.
///
/// Actions go through one FIFO, drained by the thread that dispatches while nobody else does. So a dispatch
/// on an idle core is applied when it returns; a dispatch from an observer, from the reducer, or while
/// another thread drains, is queued, and applied in its turn. Nothing is re-entered and nothing is reordered.
///
/// For each action: the reducer, then the observers in the order of their registration.
///
/// ```swift
/// let core = Core(Counter(), reducer: Counter.reducer, now: { clock.now })
/// let subscription = core.observe { change in print(change.new) }
/// core.dispatch(CounterIncreaseRequested())
/// ```
///
/// No lock is held while an observer runs. The reducer has the state to itself: another thread that reads
/// `state` meanwhile waits for it, and the reducer, which was handed the state, must not read `state`.
/// The state is changed in place; its old value is kept, and its collections copied where they change, only
/// if there are observers to be shown it.
public final class Core<State: Sendable>: Sendable {
    private struct Kept {
        var state: State
        var revision: UInt64 = 0
    }

    private let kept: Mutex<Kept>
    private let inbox = Mutex(Inbox<State>())
    private let reducer: Reducer<State>
    private let now: @Sendable () -> Timestamp
    private let turnsInARowMax: Int

    /// A core that starts with `state`.
    ///
    /// - Parameters:
    ///   - state: the initial state, at revision 0.
    ///   - reducer: what changes it.
    ///   - now: the clock; asked once for each action, as its turn comes.
    public convenience init(
        _ state: State,
        reducer: Reducer<State>,
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.init(state, reducer: reducer, now: now, turnsInARowMax: 256)
    }

    /// - Parameter turnsInARowMax: after so many turns, its own included, a dispatching thread hands what
    ///   still waits to a task, so that a busy core cannot capture a thread that has other things to do.
    init(
        _ state: State,
        reducer: Reducer<State>,
        now: @escaping @Sendable () -> Timestamp,
        turnsInARowMax: Int
    ) {
        precondition(turnsInARowMax > 0, "turnsInARowMax must be positive, is \(turnsInARowMax)")
        self.kept = Mutex(Kept(state: state))
        self.reducer = reducer
        self.now = now
        self.turnsInARowMax = turnsInARowMax
    }

    /// The state after the last action that was reduced.
    public var state: State {
        kept.withLock { $0.state }
    }

    /// Takes an action in.
    ///
    /// If nobody else is at work it is applied, and its observers have been told, on return, along with what
    /// they dispatched in turn; otherwise it is queued. A long queue is handed on to a task at some point.
    public func dispatch(_ action: any Action) {
        enter(.reduce(action))
    }

    /// Calls `body` for each action reduced from now on, until the subscription is cancelled or dropped.
    ///
    /// Registering goes through the same FIFO as actions: every action dispatched before is already in the
    /// replayed state, every later one is delivered as a change.
    ///
    /// - Parameters:
    ///   - replay: whether `body` is first shown the current state.
    ///   - body: called on the thread that drains, one change at a time. It may dispatch, observe and cancel.
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let observer = Observer(replay: replay, body)
        enter(.admit(observer))
        return Subscription { [weak self] in
            observer.deactivate()
            _ = self?.inbox.withLock { $0.remove(observer) }
        }
    }
}

extension Core {
    private func enter(_ entry: Inbox<State>.Entry) {
        guard let turn = inbox.withLock({ $0.enter(entry) }) else { return }
        guard let left = drain(from: turn) else { return }
        // Detached, since what waits may come from anybody: it is not the caller's work any more.
        Task.detached {
            var turn = Optional(left)
            while let next = turn {
                turn = self.drain(from: next)
                await Task.yield()
            }
        }
    }

    /// Takes turns until nothing waits (nil) or it has had its share; then returns the next, not yet taken.
    private func drain(from first: Inbox<State>.Turn) -> Inbox<State>.Turn? {
        var turn = first
        for _ in 0..<turnsInARowMax {
            take(turn)
            guard let next = inbox.withLock({ $0.next() }) else { return nil }
            turn = next
        }
        return turn
    }

    private func take(_ turn: Inbox<State>.Turn) {
        switch turn.entry {
        case .reduce(let action):
            reduce(action, telling: turn.observers)
        case .admit(let observer):
            guard observer.replay else { return }
            let change = kept.withLock { Change(old: nil, new: $0.state, action: nil, revision: $0.revision) }
            observer.deliver(change)
        }
    }

    private func reduce(_ action: any Action, telling observers: [Observer<State>]) {
        let context = ActionContext(time: now())
        let change: Change<State>? = kept.withLock { kept in
            kept.revision += 1
            // A second reference to the state makes its collections copy when they change.
            let old = observers.isEmpty ? nil : kept.state
            reducer.reduce(into: &kept.state, action, context: context)
            return old.map { Change(old: $0, new: kept.state, action: action, revision: kept.revision) }
        }
        guard let change else { return }
        for observer in observers {
            observer.deliver(change)
        }
    }
}
