internal import Locking

/// Renders a source's states to props and hands them to a component, as long as that lives.
///
/// Held by the observation of the source only, so that it ends with it.
final class Connection<State: Sendable, Target: Component>: Sendable {
    private struct Rendered {
        /// The last state, if it may have to be rendered again.
        var state: State?
        var props: Target.Props?
        /// How many renderings came to count: whether what one went by is still the last.
        var count = 0
        var subscription: Subscription?
        var ticking: Task<Void, Never>?
        var hasEnded = false
    }

    private weak let component: Target?
    private let render: @Sendable (State, Timestamp) -> Target.Props?
    private let areEqual: @Sendable (Target.Props, Target.Props) -> Bool
    private let now: @Sendable () -> Timestamp
    private let hasTicks: Bool
    private let mailbox: any ComponentMailbox<Target.Props>
    private let rendered = Locked(Rendered())

    /// - Parameter render: pure, from a state and the time; nil once the component is gone.
    init(
        to component: Target,
        rendering render: @escaping @Sendable (State, Timestamp) -> Target.Props?,
        removeDuplicates areEqual: @escaping @Sendable (Target.Props, Target.Props) -> Bool,
        now: @escaping @Sendable () -> Timestamp,
        hasTicks: Bool
    ) {
        self.component = component
        self.render = render
        self.areEqual = areEqual
        self.now = now
        self.hasTicks = hasTicks
        mailbox = StateCore.mailbox(of: component)
    }

    deinit {
        // The source has gone: what was posted is still delivered.
        rendered.withLock { $0.ticking }?.cancel()
    }

    /// Keeps what feeds the connection, to end it along with it.
    func keep(_ subscription: Subscription, ticking: Task<Void, Never>?) {
        let isTooLate = rendered.withLock { rendered in
            guard !rendered.hasEnded else { return true }
            rendered.subscription = subscription
            rendered.ticking = ticking
            return false
        }
        guard isTooLate else { return }
        ticking?.cancel()
        subscription.cancel()
    }

    /// Renders a state that came in.
    func show(_ state: State) {
        guard component != nil, let props = render(state, now()) else { return end() }
        // A tick may get in between; the state is newer.
        while !deliver(props, of: state, after: rendered.withLock { $0 }) {}
    }

    /// Renders the last state once more, as it looks at `time`. Says whether there is anybody to render for.
    func tick(at time: Timestamp) -> Bool {
        guard component != nil else {
            end()
            return false
        }
        let last = rendered.withLock { $0 }
        guard let state = last.state else { return true }
        guard let props = render(state, time) else {
            end()
            return false
        }
        // If a newer state gets in between, that one counts.
        _ = deliver(props, of: state, after: last)
        return true
    }

    /// Delivers what was rendered unless something else came to count after `last`, and says whether that is settled.
    ///
    /// Renderings are compared, and let go of, without the lock: both are other people's code, which may come back here.
    private func deliver(_ props: Target.Props, of state: State, after last: Rendered) -> Bool {
        if last.hasEnded { return true }
        let isNew = last.props.map { !areEqual($0, props) } ?? true
        // `last` keeps what is replaced until the lock is released.
        defer { withExtendedLifetime(last) {} }
        let (isSettled, needsReader) = rendered.withLock { rendered in
            guard !rendered.hasEnded else { return (true, false) }
            guard rendered.count == last.count else { return (false, false) }
            rendered.count += 1
            if hasTicks { rendered.state = state }
            guard isNew else { return (true, false) }
            rendered.props = props
            // With the lock held, so that ticks and states keep their order.
            return (true, mailbox.put(props))
        }
        // Without the lock: a view may be set its props here.
        if needsReader { mailbox.callForReader() }
        return isSettled
    }

    /// Delivers nothing any more, and lets go of everything.
    func end() {
        mailbox.close()
        let former = rendered.withLock { rendered in
            let former = rendered
            rendered = Rendered(hasEnded: true)
            return former
        }
        former.ticking?.cancel()
        former.subscription?.cancel()
    }
}
