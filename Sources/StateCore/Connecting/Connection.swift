internal import Threading

/// Renders the states of a source to props and delivers them to a component while it exists.
///
/// Only the observation of the source retains a connection, so that it ends with the source.
final class Connection<State: Sendable, Target: Component>: Sendable {
    private struct Rendered {
        /// The last state, kept only if ticks may render it again.
        var state: State?
        var props: Target.Props?
        /// The number of accepted renderings. A rendering is outdated if it has changed in the meantime.
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

    /// - Parameter render: a pure function of a state and the time; nil after the component is deallocated.
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
        mailbox = makeMailbox(of: component)
    }

    deinit {
        // The source has ended. Queued props are still delivered.
        rendered.withLock { $0.ticking }?.cancel()
    }

    /// Attaches the inputs of the connection, which end with it.
    func attach(_ subscription: Subscription, ticking: Task<Void, Never>?) {
        let hasEnded = rendered.withLock { rendered in
            guard !rendered.hasEnded else { return true }
            rendered.subscription = subscription
            rendered.ticking = ticking
            return false
        }
        guard hasEnded else { return }
        ticking?.cancel()
        subscription.cancel()
    }

    /// Renders a new state.
    func render(_ state: State) {
        guard component != nil, let props = render(state, now()) else { return end() }
        // Repeated if a tick rendered an older state in the meantime.
        while !deliver(props, of: state, after: rendered.withLock { $0 }) {}
    }

    /// Renders the last state as of `time`. Returns whether the component still exists.
    func renderAgain(at time: Timestamp) -> Bool {
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
        // Dropped if a newer state was rendered in the meantime.
        _ = deliver(props, of: state, after: last)
        return true
    }

    /// Delivers props unless another rendering was accepted after `last`. Returns false in that case.
    ///
    /// Compares and releases props outside the lock: both may run user code that accesses the connection.
    private func deliver(_ props: Target.Props, of state: State, after last: Rendered) -> Bool {
        if last.hasEnded { return true }
        let isNew = last.props.map { !areEqual($0, props) } ?? true
        // `last` retains the replaced values until the lock is released.
        defer { withExtendedLifetime(last) {} }
        let (isAccepted, needsReader) = rendered.withLock { rendered in
            guard !rendered.hasEnded else { return (true, false) }
            guard rendered.count == last.count else { return (false, false) }
            rendered.count += 1
            if hasTicks { rendered.state = state }
            guard isNew else { return (true, false) }
            rendered.props = props
            // Enqueued inside the lock, so that ticks and states keep their order.
            return (true, mailbox.enqueue(props))
        }
        // Outside the lock: this may set the props of a view.
        if needsReader { mailbox.startReader() }
        return isAccepted
    }

    /// Drops queued props and releases all inputs.
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

// MARK: Mailboxes of components

/// A ``Mailbox`` of props whose reader updates a component.
///
/// The reader dequeues props on the component's actor and updates it without a suspension in between, so no update
/// follows after the mailbox is closed on that actor.
private protocol ComponentMailbox<Element>: Sendable {
    associatedtype Element: Sendable

    func enqueue(_ props: Element) -> Bool
    func startReader()
    func close()
}

extension Mailbox: ComponentMailbox {}

/// The mailbox of a component, which it references weakly.
private func makeMailbox<Target: Component>(of component: Target) -> any ComponentMailbox<Target.Props> {
    if let view = component as? any ViewComponent<Target.Props> { return makeMailbox(of: view) }
    return Mailbox<Target.Props, Void>(for: ()) { [weak component] mailbox in
        Task.detached {
            // Retained for one update at a time, so that queued props do not keep the component alive.
            while let component {
                guard await deliverNext(from: mailbox, to: component, on: component as? any Actor) else { return }
            }
            mailbox.close()
        }
    }
}

/// The mailbox of a view: props are delivered like changes to a callback on the main actor.
private func makeMailbox<View: ViewComponent>(of view: View) -> any ComponentMailbox<View.Props> {
    Mailbox(in: .mainActor) { [weak view] props in
        MainActor.assumeIsolated { view?.props = props }
    }
}

/// Returns false if the mailbox is empty.
private func deliverNext<Target: Component>(
    from mailbox: Mailbox<Target.Props, Void>,
    to component: Target,
    on actor: isolated (any Actor)?
) async -> Bool {
    guard let (props, _) = mailbox.dequeue() else { return false }
    await component.update(props)
    return true
}
