public import StateCore

/// Asks for one step up.
public struct CounterIncreaseRequested: Action, Equatable {
    /// A request for one step up.
    public init() {}
}

/// Asks for one step down.
public struct CounterDecreaseRequested: Action, Equatable {
    /// A request for one step down.
    public init() {}
}

/// Asks for another step from now on.
public struct StepChangeRequested: Action, Equatable {
    /// The new step; zero and negative ones are as good as any.
    public var step: Int

    /// A request for steps of `step`.
    public init(step: Int) {
        self.step = step
    }

    /// Steps of five.
    public static let example: Self? = Self(step: 5)
}
