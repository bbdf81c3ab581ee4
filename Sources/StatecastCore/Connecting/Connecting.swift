extension StateSource {
    /// Keeps the props of a component up to date with the state, through a connector.
    ///
    /// Each change is rendered once, where it is made. The component receives props that differ from the last ones, one
    /// value at a time and in order. Without a bound, all props are queued that a slow component has not yet received.
    /// The component is referenced weakly; after it is deallocated, the next change or tick ends the connection.
    ///
    /// After the connection is cancelled on the component's actor, or on the main actor for a ``ViewComponent``, the
    /// component receives no more props. If it is cancelled elsewhere, one update may still be running.
    ///
    /// ```swift
    /// let connection = core.connect(board, via: BoardConnector(), ticks: Timestamp.ticks(every: .seconds(1)))
    /// ```
    ///
    /// - Parameters:
    ///   - component: the consumer of the props.
    ///   - connector: computes the props. If it is the component itself, it is referenced weakly, too.
    ///   - areEqual: whether props need not be delivered; by default if they equal the last ones.
    ///   - now: the clock that is passed to the connector.
    ///   - ticks: when to render the last state again without a change, and with which time.
    /// - Returns: the subscription of the connection, which ends when it is dropped.
    @inlinable
    public func connect<Target: Component, Ticks: AsyncSequence<Timestamp, Never> & Sendable>(
        _ component: Target,
        via connector: some Connector<State, Target.Props>,
        removeDuplicates areEqual: @escaping @Sendable (_ last: Target.Props, _ next: Target.Props) -> Bool = {
            $0 == $1
        },
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        ticks: Ticks? = AsyncStream<Timestamp>?.none
    ) -> Subscription {
        connect(
            Connection(
                to: component,
                rendering: rendering(via: connector, for: component),
                removeDuplicates: areEqual,
                now: now,
                hasTicks: ticks != nil
            ),
            ticks: ticks
        )
    }

    /// Keeps the props of a component up to date with a part of the state, through a connector of this part.
    ///
    /// ```swift
    /// core.connect(editor, via: EditorConnector(), state: \.settings).store(in: disposer)
    /// ```
    ///
    /// Otherwise like ``connect(_:via:removeDuplicates:now:ticks:)``. Each change is rendered. If rendering costs more
    /// than comparing the part, connect to a scope instead.
    ///
    /// - Parameter part: a key path or a pure function.
    @inlinable
    public func connect<Target: Component, Part, Ticks: AsyncSequence<Timestamp, Never> & Sendable>(
        _ component: Target,
        via connector: some Connector<Part, Target.Props>,
        state part: @escaping @Sendable (_ state: State) -> Part,
        removeDuplicates areEqual: @escaping @Sendable (_ last: Target.Props, _ next: Target.Props) -> Bool = {
            $0 == $1
        },
        now: @escaping @Sendable () -> Timestamp = Timestamp.systemClock,
        ticks: Ticks? = AsyncStream<Timestamp>?.none
    ) -> Subscription {
        let render = rendering(via: connector, for: component)
        return connect(
            Connection(
                to: component,
                rendering: { state, now in render(part(state), now) },
                removeDuplicates: areEqual,
                now: now,
                hasTicks: ticks != nil
            ),
            ticks: ticks
        )
    }

    /// Keeps the props of a component up to date with a part of the state, given by a key path or a pure function.
    ///
    /// ```swift
    /// core.connect(gauge, to: \.fuel).store(in: disposer)
    /// core.connect(label) { state in LabelProps(text: state.name) }.store(in: disposer)
    /// ```
    ///
    /// - Parameters:
    ///   - component: the consumer of the props; referenced weakly.
    ///   - transform: computes the props. All of them are queued until the component has received them, in order.
    ///   - areEqual: whether props need not be delivered; by default if they equal the last ones.
    /// - Returns: the subscription of the connection, which ends when it is dropped.
    @inlinable
    public func connect<Target: Component>(
        _ component: Target,
        to transform: @escaping @Sendable (_ state: State) -> Target.Props,
        removeDuplicates areEqual: @escaping @Sendable (_ last: Target.Props, _ next: Target.Props) -> Bool = {
            $0 == $1
        }
    ) -> Subscription {
        connect(
            Connection(
                to: component,
                rendering: { state, _ in transform(state) },
                removeDuplicates: areEqual,
                now: { .epoch },
                hasTicks: false
            ),
            ticks: AsyncStream<Timestamp>?.none
        )
    }

    /// Keeps a component up to date whose props are the state.
    @inlinable
    public func connect<Target: Component<State>>(_ component: Target) -> Subscription {
        connect(component, to: { $0 })
    }

    @inlinable
    func connect<Target: Component>(
        _ connection: Connection<State, Target>,
        ticks: (some AsyncSequence<Timestamp, Never> & Sendable)?
    ) -> Subscription {
        let subscription = observe(replay: .current, oldState: .omitted) { connection.render($0.new) }
        let ticking = ticks.map { ticks in
            Task.detached { [weak connection] in
                for await time in ticks {
                    guard let connection, connection.renderAgain(at: time) else { return }
                }
            }
        }
        connection.attach(subscription, ticking: ticking)
        return Subscription { [weak connection] in connection?.end() }
    }
}

/// Renders through a connector. A component that is its own connector is referenced weakly; nil after it is
/// deallocated.
@inlinable
func rendering<State, Props, Via: Connector<State, Props>>(
    via connector: Via,
    for component: some Component<Props>
) -> @Sendable (State, Timestamp) -> Props? {
    guard Via.self is AnyClass, connector as AnyObject === component else {
        return { connector.props(from: $0, at: $1) }
    }
    return { [weak component] in (component as? Via)?.props(from: $0, at: $1) }
}
