/// Computes the props of one consumer from a state.
///
/// Connectors are pure: equal states at equal times give equal props. The time is an argument, so that a tick can
/// render the state again without an action, for example to show that a machine is silent. Props should contain only
/// the data that the consumer needs, because equal props are not delivered.
public protocol Connector<State, Props>: Sendable {
    /// The input.
    associatedtype State
    /// The data that the consumer needs.
    associatedtype Props: Equatable & Sendable

    /// The props for `state` at the time `now` of the consumer's clock.
    func props(from state: State, at now: Timestamp) -> Props
}

/// Consumes props: a view, an audio player, a report writer.
///
/// Conform to this protocol with a class or an actor whose updates may be slow, and to ``ViewComponent`` with a class
/// of the main actor. The props contain all data that the component needs, and commands for its requests.
public protocol Component<Props>: AnyObject, Sendable {
    /// The data that it needs.
    associatedtype Props: Equatable & Sendable

    /// Applies the next props. Called for one value at a time, in order; the next call waits until this one returns.
    func update(_ props: Props) async
}

/// A component of the main actor, which sets its props there.
///
/// Do not implement `update(_:)`: it is never called for a view component.
@MainActor
public protocol ViewComponent<Props>: Component {
    /// The data that it shows. Declared again so that the compiler infers it from the type of `props`.
    associatedtype Props

    /// The current props; set once initially and then on each change. Redraw in `didSet`.
    var props: Props { get set }
}

extension ViewComponent {
    /// Sets the props.
    public func update(_ props: Props) async { self.props = props }
}
