/// Takes actions in: a core, a scope of one, a primary, or a sender whose primary is in another process.
///
/// What only has to say what happened depends on this, and can be handed any of them.
public protocol ActionDispatcher: Sendable {
    /// Takes an action in and returns without an answer.
    ///
    /// Actions dispatched by one thread are reduced in the order in which it dispatched them.
    func dispatch(_ action: any Action)
}
