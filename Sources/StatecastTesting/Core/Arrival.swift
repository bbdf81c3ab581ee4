internal import StateCore

/// An action that waits to be received.
struct Arrival: Sendable {
    let action: any Action
    /// Whether it was sent in a turn of the core's, and so is due before all that effects send at their own pace.
    let isImmediate: Bool
    private let result: EffectAction?

    /// - Parameter result: what an effect sent; nil for what a middleware dispatched.
    init(action: any Action, result: EffectAction?) {
        self.action = action
        self.result = result
        isImmediate = Turn.isUnderWay
    }

    var name: String { type(of: action).name }

    var isWanted: Bool { result?.isWanted ?? true }

    /// Lets whoever sent it go on. What follows in a sequence is sent in this turn.
    func settle() { Turn.take { result?.complete() } }
}
