public import Observation

/// A source's state for views that track what they read: `value` is observable, and changes on the main actor.
///
/// ```swift
/// let fuel = Observed(core.scope(\.fuel))
/// withObservationTracking { label.text = "\(fuel.value)" } onChange: { ... }
/// ```
///
/// It follows until it is dropped.
@MainActor @Observable
public final class Observed<Value: Sendable> {
    /// The state, as far as it has come to the main actor.
    public private(set) var value: Value
    @ObservationIgnored private var subscription: Subscription?

    /// Follows a source that may have nothing to show yet.
    ///
    /// - Parameters:
    ///   - source: what it follows.
    ///   - value: the value until the source shows one.
    ///   - areEqual: whether going from one value to the next is not worth telling; `{ _, _ in false }` tells each.
    public init(
        _ source: some StateSource<Value>,
        initially value: Value,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Value, _ new: Value) -> Bool
    ) {
        self.value = value
        subscription = source.observe(on: MainActor.shared) { [weak self] change in
            guard let self, !areEqual(self.value, change.new) else { return }
            self.value = change.new
        }
    }

    /// Follows a source that can be asked for its state, which is the value from the start.
    public convenience init(
        _ source: some StateKeeper<Value>,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Value, _ new: Value) -> Bool
    ) {
        self.init(source, initially: source.state, removeDuplicates: areEqual)
    }
}

extension Observed where Value: Equatable {
    /// Follows a source that may have nothing to show yet; equal values are not told.
    public convenience init(_ source: some StateSource<Value>, initially value: Value) {
        self.init(source, initially: value, removeDuplicates: { $0 == $1 })
    }

    /// Follows a source that can be asked for its state; equal values are not told.
    public convenience init(_ source: some StateKeeper<Value>) {
        self.init(source, initially: source.state, removeDuplicates: { $0 == $1 })
    }
}
