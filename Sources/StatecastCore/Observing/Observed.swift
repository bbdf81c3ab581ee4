public import Observation

/// The state of a source as an observable `value` that changes on the main actor, for views that track their reads.
///
/// ```swift
/// let fuel = Observed(core.scope(\.fuel))
/// withObservationTracking { label.text = "\(fuel.value)" } onChange: { ... }
/// ```
///
/// It observes the source until it is dropped.
@MainActor @Observable
public final class Observed<Value: Sendable> {
    /// The last state that was delivered to the main actor.
    public private(set) var value: Value
    @ObservationIgnored private var subscription: Subscription?

    /// Observes a source that may not have a state yet.
    ///
    /// - Parameters:
    ///   - source: the observed source.
    ///   - value: the value until the source delivers one.
    ///   - areEqual: whether a new value is to be ignored; `{ _, _ in false }` publishes each.
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

    /// Observes a source whose current state is the initial value.
    public convenience init(
        _ source: some CurrentStateSource<Value>,
        removeDuplicates areEqual: @escaping @Sendable (_ old: Value, _ new: Value) -> Bool
    ) {
        self.init(source, initially: source.state, removeDuplicates: areEqual)
    }
}

extension Observed where Value: Equatable {
    /// Observes a source that may not have a state yet, and ignores equal values.
    public convenience init(_ source: some StateSource<Value>, initially value: Value) {
        self.init(source, initially: value, removeDuplicates: { $0 == $1 })
    }

    /// Observes a source whose current state is the initial value, and ignores equal values.
    public convenience init(_ source: some CurrentStateSource<Value>) {
        self.init(source, initially: source.state, removeDuplicates: { $0 == $1 })
    }
}
