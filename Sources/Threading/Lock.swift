#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A pthread mutex that traps on recursion.
///
/// On Linux, ThreadSanitizer does not see the ordering that a contended `Synchronization.Mutex` establishes, and
/// reports false races. It understands pthread mutexes.
///
/// Unchecked `Sendable`: pthread functions may be called from any thread.
@usableFromInline
package final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let onRecursion: StaticString

    /// - Parameter onRecursion: the message of the trap if a thread acquires a lock that it already holds.
    @usableFromInline
    package init(onRecursion: StaticString = "a thread acquires a lock that it already holds") {
        self.onRecursion = onRecursion
        mutex.initialize(to: pthread_mutex_t())
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        pthread_mutex_init(mutex, &attributes)
        pthread_mutexattr_destroy(&attributes)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    @usableFromInline
    package func lock() {
        guard pthread_mutex_lock(mutex) == 0 else { fatalError("\(onRecursion)") }
    }

    @usableFromInline
    package func unlock() { pthread_mutex_unlock(mutex) }
}

/// A value that is only accessible while its lock is held.
///
/// Inlinable, so that other modules specialize it: each action passes several of these locks.
///
/// Unchecked `Sendable`: every access to the value holds the lock.
@usableFromInline
package final class Locked<Value>: @unchecked Sendable {
    @usableFromInline let lock = Lock()
    @usableFromInline var value: Value

    @inlinable
    package init(_ value: sending Value) { self.value = value }

    /// Runs `body` with exclusive access to the value. `body` must not acquire the same lock.
    @inlinable
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
