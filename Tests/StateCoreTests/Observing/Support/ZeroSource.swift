import StateCore

/// A source that shows 0 and says when an observation ends.
struct ZeroSource: StateSource {
    let onEnd: @Sendable () -> Void

    func observe(replay: Bool, _ body: @escaping @Sendable (Change<Int>) -> Void) -> Subscription {
        if replay { body(Change(replay: 0, revision: 0)) }
        return Subscription { onEnd() }
    }
}
