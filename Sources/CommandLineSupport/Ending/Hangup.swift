#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// SIGHUP: the terminal was closed.
package enum Hangup {
    /// Lets the process go on without its terminal. Call it before anything that must not be cut off.
    package static func ignore() { _ = signal(SIGHUP, SIG_IGN) }

    /// Whether the process ignores it: it was started with `nohup`, or asked for it.
    static var isIgnored: Bool {
        // Only `signal` reports what is set in the same way on each system; nothing else sets it meanwhile.
        let current = signal(SIGHUP, SIG_IGN)
        signal(SIGHUP, current)
        // Handlers are not comparable, their addresses are.
        return unsafeBitCast(current, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
