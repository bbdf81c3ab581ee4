/// What a logger is told about one action.
public struct ActionLogEntry<State>: CustomStringConvertible {
    /// The action as it came to the logger.
    public let action: any Action
    /// When it was taken in, and from whom.
    public let context: ActionContext
    /// The state before.
    public let old: State
    /// The state after; the same if the action was kept back.
    public let new: State
    /// Why the action did not reach the reducer; nil if it did.
    public let rejection: Rejection?

    /// The action and its payload, and what kept it back.
    public var description: String {
        let action = "\(type(of: action).name) \(action)"
        return rejection.map { "\(action) rejected: \($0)" } ?? action
    }
}

extension Middleware {
    /// Tells `write` of each action, once it is reduced or kept back.
    ///
    /// Placed first it sees what was dispatched, placed last what reaches the reducer. Since it shows the old state beside
    /// the new one, the reducer copies the collections that it changes.
    ///
    /// ```swift
    /// let core = Core(App(), reducer: App.reducer, middleware: [.logger { print($0) }])
    /// ```
    public static func logger(_ write: @escaping @Sendable (ActionLogEntry<State>) -> Void) -> Middleware {
        Middleware { action, store, next in
            let old = store.state
            func log(_ rejection: Rejection?) {
                write(
                    ActionLogEntry(
                        action: action,
                        context: store.context,
                        old: old,
                        new: store.state,
                        rejection: rejection
                    )
                )
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
