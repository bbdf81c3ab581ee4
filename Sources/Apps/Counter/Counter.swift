public import StateCore

/// The smallest store there is: a number, and by how much it moves.
public struct Counter: Codable, Equatable, Sendable {
    /// The number.
    public var counter = 0
    /// How much one request adds or takes away.
    public var step = 1

    /// A counter that stands at `counter` and moves by `step`.
    public init(counter: Int = 0, step: Int = 1) {
        self.counter = counter
        self.step = step
    }
}

extension Counter {
    /// What the store is called on the wire.
    public static let storeName = "counter"

    /// Every action that the store knows.
    public static let actions: [any Action.Type] = [
        CounterIncreaseRequested.self, CounterDecreaseRequested.self, StepChangeRequested.self,
    ]

    /// Moves the counter; at the ends of `Int` it stays where it is instead of trapping.
    public static let reducer = Reducer<Counter> { state, action in
        switch action {
        case is CounterIncreaseRequested:
            state.counter = state.counter.clampedAdding(state.step)
        case is CounterDecreaseRequested:
            state.counter = state.counter.clampedSubtracting(state.step)
        case let action as StepChangeRequested:
            state.step = action.step
        default:
            break
        }
    }
}
