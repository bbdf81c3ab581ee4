/// Turns a state into the props that one consumer needs, and nothing else.
///
/// Pure: the same state at the same time gives the same props. The time is an argument, so that what depends
/// on it (a machine that fell silent) can be shown by asking again on a tick, without any new action. Leave
/// out of the props what the consumer does not show: equal props need not be delivered.
public protocol Connector<State, Props>: Sendable {
    /// The state it reads.
    associatedtype State
    /// What the consumer needs.
    associatedtype Props: Equatable & Sendable

    /// The props for `state`, as they look at `now` by the consumer's clock.
    func props(from state: State, at now: Timestamp) -> Props
}
