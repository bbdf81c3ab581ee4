package import StatecastCore

/// A minimal store: a number and the step by which it changes.
package struct Counter: Codable, Equatable, Sendable {
    package var counter = 0
    /// The amount that a request adds or subtracts.
    package var step = 1

    package init(counter: Int = 0, step: Int = 1) {
        self.counter = counter
        self.step = step
    }
}

extension Counter {
    /// The store's default name.
    package static let storeName = "counter"

    package static let actions: [any Action.Type] = [
        CounterIncreaseRequested.self, CounterDecreaseRequested.self, StepChangeRequested.self,
    ]

    /// Changes the counter, which stops at the ends of `Int` instead of trapping.
    package static let reducer = Reducer<Counter> { state, action in
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

/// Increases the counter by a step.
package struct CounterIncreaseRequested: Action, Equatable {
    package init() {}
}

/// Decreases the counter by a step.
package struct CounterDecreaseRequested: Action, Equatable {
    package init() {}
}

/// Changes the step.
package struct StepChangeRequested: Action, Equatable {
    /// The new step, which may be zero or negative.
    package var step: Int

    package init(step: Int) {
        self.step = step
    }

    package static let example: Self? = Self(step: 5)
}

extension Int {
    /// The sum, clamped to the range of `Int`.
    fileprivate func clampedAdding(_ other: Int) -> Int {
        let (sum, overflowed) = addingReportingOverflow(other)
        guard overflowed else { return sum }
        return other > 0 ? .max : .min
    }

    /// The difference, clamped to the range of `Int`.
    fileprivate func clampedSubtracting(_ other: Int) -> Int {
        let (difference, overflowed) = subtractingReportingOverflow(other)
        guard overflowed else { return difference }
        return other > 0 ? .min : .max
    }
}
