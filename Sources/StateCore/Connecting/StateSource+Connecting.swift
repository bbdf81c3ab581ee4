extension StateSource {
    /// Keeps a component's props up to date with the state, by way of a connector.
    ///
    /// Each change is rendered once, where it is made; the component hears of props that differ from the last ones, one
    /// after the other. Those that come faster than it takes them wait, all of them and in order, however many: a slow
    /// component is not to be fed by a fast source. It is held weakly, and once it is gone the connection ends with the
    /// next change or tick.
    ///
    /// Once the connection was cancelled on the component's own actor, or on the main actor for a ``ViewComponent``, it
    /// hears of no props any more. Cancelled elsewhere, it may just be taking some.
    ///
    /// ```swift
    /// let connection = core.connect(board, via: BoardConnector(), ticks: Timestamp.ticks(every: .seconds(1)))
    /// ```
    ///
    /// - Parameters:
    ///   - component: who consumes the props.
    ///   - connector: what turns the state into props. It may be the component itself, and is then held weakly, too.
    ///   - areEqual: when props need not be delivered; by default when they equal the last ones.
    ///   - now: the clock that the connector is shown.
    ///   - ticks: when to render the last state again without any change, and as of what time.
    /// - Returns: what keeps the connection going: dropped, it ends.
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

    /// Keeps a component's props up to date with a part of the state, by way of a connector that reads this part only.
    ///
    /// ```swift
    /// core.connect(editor, via: EditorConnector(), state: \.settings).store(in: disposer)
    /// ```
    ///
    /// Otherwise as ``connect(_:via:removeDuplicates:now:ticks:)``. Each change is rendered; connect to a scope instead
    /// where rendering costs more than comparing the parts.
    ///
    /// - Parameter part: a key path or a pure function.
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

    /// Keeps a component's props up to date with a part of the state, named by a key path or computed by a pure function.
    ///
    /// ```swift
    /// core.connect(gauge, to: \.fuel).store(in: disposer)
    /// core.connect(label) { state in LabelProps(text: state.name) }.store(in: disposer)
    /// ```
    ///
    /// - Parameters:
    ///   - component: who consumes the props; held weakly.
    ///   - transform: what turns the state into props. Those that come faster than the component takes them wait, all of
    ///     them and in order.
    ///   - areEqual: when props need not be delivered; by default when they equal the last ones.
    /// - Returns: what keeps the connection going: dropped, it ends.
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
    public func connect<Target: Component<State>>(_ component: Target) -> Subscription {
        connect(component, to: { $0 })
    }

    private func connect<Target: Component>(
        _ connection: Connection<State, Target>,
        ticks: (some AsyncSequence<Timestamp, Never> & Sendable)?
    ) -> Subscription {
        let subscription = observe(replay: true, needsOld: false) { connection.show($0.new) }
        let ticking = ticks.map { ticks in
            Task.detached { [weak connection] in
                for await time in ticks {
                    guard let connection, connection.tick(at: time) else { return }
                }
            }
        }
        connection.keep(subscription, ticking: ticking)
        return Subscription { [weak connection] in connection?.end() }
    }
}

/// Renders by way of a connector. A component that is its own connector is held weakly; nil once it is gone.
private func rendering<State, Props, Via: Connector<State, Props>>(
    via connector: Via,
    for component: some Component<Props>
) -> @Sendable (State, Timestamp) -> Props? {
    guard Via.self is AnyClass, connector as AnyObject === component else {
        return { connector.props(from: $0, at: $1) }
    }
    return { [weak component] in (component as? Via)?.props(from: $0, at: $1) }
}
