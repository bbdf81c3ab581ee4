#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A use of a core that cannot be right, found while the program runs.
///
/// The core goes on as each case says. Give it a handler of one's own to log that, or to trap in debug builds:
///
/// ```swift
/// let core = Core(App(), reducer: App.reducer, misuse: { assertionFailure($0.description) })
/// ```
public enum Misuse: Hashable, Sendable, CustomStringConvertible {
    /// Observers and reducers answered actions with actions so many times over that no end is in sight. They go on.
    case endlessDispatch(action: String, depth: Int)
    /// An action was awaited by the very thread that would have to reduce it; were it to block, it would wait for ever.
    /// It is reduced in its turn.
    case awaitedWhileDraining(action: String)
    /// A middleware called `next` twice for one action. The second call does nothing.
    case nextCalledTwice(action: String)
    /// A middleware threw after it had passed the action on. The action counts as applied.
    case rejectedTooLate(action: String, error: String)
    /// An action was dispatched to a core that is stopped, or not started yet. It is dropped.
    case dispatchedWhileStopped(action: String)
    /// An action that is for a middleware reached the reducer, such as a thunk without ``Middleware/thunk`` or of another
    /// state. The reducer gets it.
    case untakenByMiddleware(action: String)

    /// What was done, and what to do instead.
    public var description: String {
        switch self {
        case .endlessDispatch(let action, let depth):
            "\(action) is the \(depth)th action in a row dispatched in answer to another: "
                + "let observers dispatch only when something they need has changed"
        case .awaitedWhileDraining(let action):
            "\(action) was awaited inside an observer, reducer or middleware of the same core: "
                + "dispatch it instead, or await it in a task of its own"
        case .nextCalledTwice(let action):
            "a middleware passed \(action) on twice: dispatch what is to be reduced in addition"
        case .rejectedTooLate(let action, let error):
            "a middleware threw after it had passed \(action) on (\(error)): refuse before calling next"
        case .dispatchedWhileStopped(let action):
            "\(action) was dispatched to a core that is stopped: call start() first"
        case .untakenByMiddleware(let action):
            "\(action) is for a middleware, and no middleware handled it: "
                + "add the middleware that does; for a thunk it is .thunk, of a core with the thunk's state"
        }
    }

    /// Writes one line to standard error: what is done about misuse unless a handler of one's own is given.
    public static let writeToStandardError: @Sendable (Misuse) -> Void = { misuse in
        let line = Array("statecast: misuse: \(misuse)\n".utf8)
        _ = line.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
