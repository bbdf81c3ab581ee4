/// What the primary's own process asks of a store.
enum LocalRequest<State: Sendable>: Sendable {
    case action(LocalAction)
    case observe(Listener<Change<State>>, replay: Bool)
    case ignore(Listener<Change<State>>)
}

/// An action of the primary's own process, and who waits for its outcome.
enum LocalAction: Sendable {
    case dispatched(any Action)
    case awaited(any Action, @Sendable (Result<Receipt, Rejection>) -> Void)
    case result(EffectAction)

    var action: any Action {
        switch self {
        case .dispatched(let action), .awaited(let action, _): action
        case .result(let result): result.action
        }
    }

    /// Whether it is still to be reduced: what an effect sent may have been cancelled while it waited.
    var isWanted: Bool {
        guard case .result(let result) = self else { return true }
        return result.isWanted
    }

    /// Why one that is no longer wanted is not reduced.
    static let cancelled = Rejection(.stopped, "the effect was cancelled")

    /// Tells who waits. To be called once.
    func settle(_ outcome: Result<Receipt, Rejection>) {
        switch self {
        case .dispatched: break
        case .awaited(_, let answer): answer(outcome)
        case .result(let result): result.complete()
        }
    }
}
