public import StatecastThreading
public import Synchronization

/// Renders the states of a source to props and delivers them to a component while it exists.
///
/// Only the observation of the source retains a connection, so that it ends with the source.
///
/// Inlinable, so that other modules specialize it: unspecialized, rendering an action takes ten times as long.
@usableFromInline
final class Connection<State: Sendable, Target: Component>: Sendable {
    @usableFromInline
    struct Rendered {
        /// The last state and its props, kept only if ticks may render the state again.
        @usableFromInline var state: State?
        @usableFromInline var props: Target.Props?
        /// The number of accepted renderings. A rendering is outdated if it has changed in the meantime.
        @usableFromInline var count = 0
        @usableFromInline var subscription: Subscription?
        @usableFromInline var ticking: Task<Void, Never>?
        @usableFromInline var hasEnded = false

        @inlinable
        init(hasEnded: Bool = false) { self.hasEnded = hasEnded }
    }

    @usableFromInline weak let component: Target?
    @usableFromInline let render: @Sendable (State, Timestamp) -> Target.Props?
    @usableFromInline let areEqual: @Sendable (Target.Props, Target.Props) -> Bool
    @usableFromInline let now: @Sendable () -> Timestamp
    @usableFromInline let hasTicks: Bool
    @usableFromInline let mailbox: Mailbox<Target.Props>
    @usableFromInline let retention = Retention()
    @usableFromInline let rendered = Locked(Rendered())
    /// The last props without ticks. Safe: only the source accesses them, which delivers one state at a time.
    @usableFromInline nonisolated(unsafe) let last: UnsafeMutablePointer<Target.Props>
    @usableFromInline nonisolated(unsafe) let hasLast: UnsafeMutablePointer<Bool>

    /// - Parameter render: a pure function of a state and the time; nil after the component is deallocated.
    @inlinable
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
        mailbox = makeMailbox(of: component, retention: retention)
        last = .allocate(capacity: 1)
        hasLast = .allocate(capacity: 1)
        hasLast.initialize(to: false)
    }

    deinit {
        if hasLast.pointee { last.deinitialize(count: 1) }
        last.deallocate()
        hasLast.deallocate()
        // The source has ended. Queued props are still delivered.
        rendered.withLock { $0.ticking }?.cancel()
    }

    /// Attaches the inputs of the connection, which end with it.
    @usableFromInline
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
    @inlinable
    func render(_ state: State) {
        guard retention.isHeld.load(ordering: .acquiring) || component != nil, let props = render(state, now()) else {
            return end()
        }
        guard !hasTicks else {
            // Repeated if a tick rendered an older state in the meantime.
            while !deliver(props, of: state, after: rendered.withLock { ($0.props, $0.count) }) {}
            return
        }
        if hasLast.pointee {
            // Moved out and in, because the optimizer would copy the props to compare them.
            let former = last.move()
            hasLast.pointee = false
            if areEqual(former, props) {
                last.initialize(to: consume former)
                hasLast.pointee = true
                return
            }
        }
        last.initialize(to: props)
        hasLast.pointee = true
        if mailbox.enqueue(consume props) { mailbox.startReader() }
    }

    /// Renders the last state as of `time`. Returns whether the component still exists.
    @usableFromInline
    func renderAgain(at time: Timestamp) -> Bool {
        guard component != nil else {
            end()
            return false
        }
        let (state, last) = rendered.withLock { ($0.state, ($0.props, $0.count)) }
        guard let state else { return true }
        guard let props = render(state, time) else {
            end()
            return false
        }
        // Dropped if a newer state was rendered in the meantime.
        _ = deliver(props, of: state, after: last)
        return true
    }

    /// Delivers props, which ticks may render, too, unless another rendering was accepted after `last`. Returns false
    /// in that case.
    ///
    /// Compares and releases values outside the lock: both may run user code that accesses the connection.
    @usableFromInline
    func deliver(_ props: Target.Props, of state: State, after last: (props: Target.Props?, count: Int)) -> Bool {
        let isNew = last.props.map { !areEqual($0, props) } ?? true
        // Like `last`, retains the replaced value until the lock is released.
        var former: State?
        defer { withExtendedLifetime((last, former)) {} }
        let (isAccepted, needsReader) = rendered.withLock { rendered in
            guard !rendered.hasEnded else { return (true, false) }
            guard rendered.count == last.count else { return (false, false) }
            rendered.count += 1
            former = rendered.state
            rendered.state = state
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
    @usableFromInline
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

/// Whether the reader of a mailbox retains its component.
///
/// While it does, a change need not check the weak reference: that counts references to the component on the thread of
/// the source, while the reader counts them on another one.
@usableFromInline
final class Retention: Sendable {
    @usableFromInline let isHeld = Atomic(false)

    @inlinable
    init() {}
}

/// The mailbox of a component, which it references weakly.
///
/// After each update, its reader releases the component if nothing else retains it, so that queued props do not keep
/// the component alive.
@inlinable
func makeMailbox<Target: Component>(of component: Target, retention: Retention) -> Mailbox<Target.Props> {
    if let mailbox = makeMailboxOfView(component) { return mailbox }
    // Looking up this conformance for each update would take longer than most updates.
    let isActor = component is any Actor
    return Mailbox { [weak component] mailbox in
        Task.detached {
            let executor = isActor ? customExecutor(of: component as? any Actor) : nil
            let mayWait = executor == nil
            await run(on: executor) {
                while var component {
                    retention.isHeld.store(true, ordering: .relaxed)
                    defer {
                        retention.isHeld.store(false, ordering: .releasing)
                        withExtendedLifetime(component) {}
                    }
                    // To look the component up again for each update would take a fifth of the time.
                    repeat {
                        if mayWait { mailbox.awaitQueued() }
                        if isActor {
                            let actor = component as? any Actor
                            guard await deliverNext(from: mailbox, to: component, on: actor) else { return }
                        } else {
                            guard let props = mailbox.dequeue() else { return }
                            await component.update(props)
                        }
                    } while !isKnownUniquelyReferenced(&component)
                }
                mailbox.close()
            }
        }
    }
}

/// Delivers the next props. Returns false if the mailbox is empty.
///
/// Dequeues props on the component's actor and updates it without a suspension in between, so no update follows after
/// the mailbox is closed on that actor.
@inlinable
func deliverNext<Target: Component>(
    from mailbox: Mailbox<Target.Props>,
    to component: Target,
    on actor: isolated (any Actor)?
) async -> Bool {
    guard let props = mailbox.dequeue() else { return false }
    await component.update(props)
    return true
}

/// The custom executor of an actor, if it has one. A reader on another executor would change threads twice for each
/// update, and a reference to the actor itself would keep it alive.
@usableFromInline
func customExecutor(of actor: (any Actor)?) -> (any SerialExecutor)? {
    #if compiler(>=6.3)
        // Of an actor without a custom executor, or with that of such an actor, Swift 6.3 returns an actor. It cannot
        // run anything else.
        if #available(macOS 26.4, iOS 26.4, watchOS 26.4, tvOS 26.4, visionOS 26.4, *),
            let executor = actor?.unownedExecutor.asSerialExecutor(), !(executor as AnyObject is any Actor)
        {
            return executor
        }
    #endif
    return nil
}

/// Runs `body` on an executor, if there is one.
@usableFromInline
func run(on executor: (any SerialExecutor)?, _ body: nonisolated(nonsending) @Sendable () async -> Void) async {
    if let executor { await ExecutorActor(executor).run(body) } else { await body() }
}

/// The mailbox of a view, to which props are delivered like changes to a callback on the main actor; nil for other
/// components.
@usableFromInline
func makeMailboxOfView<Target: Component>(_ component: Target) -> Mailbox<Target.Props>? {
    (component as? any ViewComponent<Target.Props>).map { makeMailbox(of: $0) }
}

private func makeMailbox<View: ViewComponent>(of view: View) -> Mailbox<View.Props> {
    Mailbox(in: .mainActor) { [weak view] props in
        MainActor.assumeIsolated { view?.props = props }
    }
}
