/// Takes actions in: a core, a scope of one, a primary, or a sender whose primary is in another process.
///
/// What only has to say what happened depends on this, and can be handed any of them.
public protocol ActionDispatcher: Sendable {
    /// Takes an action in and returns without an answer.
    ///
    /// Actions dispatched by one thread are reduced in the order in which it dispatched them.
    func dispatch(_ action: any Action)
}

extension ActionDispatcher where Self: AnyObject {
    /// Takes actions in without keeping the object alive: for what the object itself holds on to, such as a connector with
    /// commands in its props. Once the object is gone, actions are dropped.
    public var dispatcher: any ActionDispatcher { WeakDispatcher(self) }
}

/// Dispatches to an object as long as something else keeps it.
struct WeakDispatcher<Target: ActionDispatcher & AnyObject>: ActionDispatcher {
    private weak let target: Target?

    init(_ target: Target) { self.target = target }

    func dispatch(_ action: any Action) { target?.dispatch(action) }
}
