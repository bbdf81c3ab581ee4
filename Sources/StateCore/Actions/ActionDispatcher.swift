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
    /// A dispatcher with a weak reference to the object, for what the object itself retains, such as a connector with
    /// commands in its props. Drops actions after the object is deallocated.
    public var dispatcher: any ActionDispatcher { WeakDispatcher(self) }
}

/// Dispatches to an object that it references weakly.
struct WeakDispatcher<Target: ActionDispatcher & AnyObject>: ActionDispatcher {
    private weak let target: Target?

    init(_ target: Target) { self.target = target }

    func dispatch(_ action: any Action) { target?.dispatch(action) }
}
