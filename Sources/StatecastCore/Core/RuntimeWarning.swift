#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// An incorrect use of a core that is detected at run time.
///
/// The core continues as each case documents. Pass a handler to log warnings, or to trap in debug builds:
///
/// ```swift
/// let core = Core(App(), reducer: App.reducer, warn: { assertionFailure($0.description) })
/// ```
public enum RuntimeWarning: Hashable, Sendable, CustomStringConvertible {
    /// Observers, reducers or effects keep answering actions with actions. The core continues to process them.
    case endlessDispatch(action: String, depth: Int)
    /// The thread that drains the core awaits an action of the same core. Blocking on it would deadlock. The core
    /// processes the action in order.
    case awaitedWhileDraining(action: String)
    /// A middleware called `next` twice for one action. The second call does nothing.
    case nextCalledTwice(action: String)
    /// A middleware threw after it had passed the action on. The action counts as applied.
    case rejectedTooLate(action: String, error: String)
    /// An action was dispatched to a stopped core. The core drops it.
    case dispatchedWhileStopped(action: String)
    /// An action that requires a middleware reached the reducer, such as a thunk without ``Middleware/thunk`` or of
    /// another state. The core passes it to the reducer.
    case unhandledByMiddleware(action: String)

    /// What happened, and how to correct it.
    public var description: String {
        switch self {
        case .endlessDispatch(let action, let depth):
            "\(action) is the \(depth)th action in a row dispatched in answer to another: "
                + "let observers dispatch only when something they need has changed"
        case .awaitedWhileDraining(let action):
            "\(action) was awaited inside an observer, reducer or middleware of the same core: "
                + "dispatch it instead, or await it in a task of its own"
        case .nextCalledTwice(let action):
            "a middleware passed \(action) on twice: dispatch an additional action instead"
        case .rejectedTooLate(let action, let error):
            "a middleware threw after it had passed \(action) on (\(error)): refuse before calling next"
        case .dispatchedWhileStopped(let action):
            "\(action) was dispatched to a core that is stopped: call start() first"
        case .unhandledByMiddleware(let action):
            "\(action) is for a middleware, and no middleware handled it: "
                + "add the middleware that does; for a thunk it is .thunk, of a core with the thunk's state"
        }
    }

    /// The default handler: writes one line to standard error.
    public static let writeToStandardError: @Sendable (RuntimeWarning) -> Void = { warning in
        let line = Array("statecast: warning: \(warning)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
