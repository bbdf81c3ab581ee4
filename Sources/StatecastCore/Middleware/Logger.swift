/// One action and its outcome, as a logger receives it.
public struct ActionLogEntry<State>: CustomStringConvertible {
    /// The action that the logger received.
    public let action: any Action
    /// The time and the sender of the action.
    public let context: ActionContext
    /// The state before.
    public let old: State
    /// The state after; the same if the action was rejected.
    public let new: State
    /// The reason for which the action did not reach the reducer, or nil.
    public let rejection: Rejection?

    /// The action, its payload and its rejection.
    public var description: String {
        let action = "\(type(of: action).name) \(action)"
        return rejection.map { "\(action) rejected: \($0)" } ?? action
    }
}

extension Middleware {
    /// Calls `write` for each action after it is reduced or rejected.
    ///
    /// As the first middleware it logs dispatched actions, as the last one the actions that reach the reducer. Because
    /// it keeps the old state, the reducer copies the collections that it changes.
    ///
    /// ```swift
    /// let core = Core(App(), reducer: App.reducer, middleware: [.logger { print($0) }])
    /// ```
    public static func logger(_ write: @escaping @Sendable (ActionLogEntry<State>) -> Void) -> Middleware {
        Middleware { action, store, next in
            let (old, context) = (store.state, store.context)
            func log(_ rejection: Rejection?) {
                let new = store.state
                write(ActionLogEntry(action: action, context: context, old: old, new: new, rejection: rejection))
            }
            do {
                let value = try next(action)
                log(nil)
                return value
            } catch {
                log(error as? Rejection ?? Rejection(.refused, "\(error)"))
                throw error
            }
        }
    }
}
