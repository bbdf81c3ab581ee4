internal import Locking

/// A lock for code that is inlined into other modules.
@usableFromInline
struct InlineLock: Sendable {
    private let mutex: Lock

    /// - Parameter onRecursion: what to say to a thread that comes for the lock it holds, before trapping.
    @usableFromInline
    init(onRecursion: StaticString) { mutex = Lock(onRecursion: onRecursion) }

    @usableFromInline
    func lock() { mutex.lock() }

    @usableFromInline
    func unlock() { mutex.unlock() }
}
