extension ActionDispatcher {
    /// A command that dispatches what its value is turned into.
    ///
    /// It keeps a dispatcher that is a value, such as a scope, and with it the core; a scope's `dispatcher` does not.
    ///
    /// - Parameter id: stands for all that `action` uses besides the value, and for the dispatcher.
    public func command<Value>(
        id: some Hashable & Sendable,
        _ action: @escaping @Sendable (_ value: Value) -> any Action
    ) -> Command<Value> {
        Command(id: id) { value in dispatch(action(value)) }
    }
}

extension ActionDispatcher where Self: AnyObject {
    /// A command that dispatches what its value is turned into, as long as somebody else keeps the dispatcher.
    ///
    /// It does not keep it itself: a core whose observers hold props with commands in them could otherwise never end.
    ///
    /// - Parameter id: stands for all that `action` uses besides the value, and for the dispatcher.
    public func command<Value>(
        id: some Hashable & Sendable,
        _ action: @escaping @Sendable (_ value: Value) -> any Action
    ) -> Command<Value> {
        Command(id: id) { [weak self] value in self?.dispatch(action(value)) }
    }
}
