#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A pthread mutex.
///
/// Not `Synchronization.Mutex`: on Linux ThreadSanitizer does not see that a contended one orders anything, and would
/// report what it guards as a race. It sees a pthread mutex, and so can find the real ones.
///
/// Unchecked, but safe: pthread functions are made to be called from any thread.
package final class Lock: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let onRecursion: StaticString

    /// - Parameter onRecursion: what to say to a thread that comes for the lock it holds, before trapping; it would wait for
    ///   ever.
    package init(onRecursion: StaticString = "a thread comes for a lock that it holds") {
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

    package func lock() {
        guard pthread_mutex_lock(mutex) == 0 else { fatalError("\(onRecursion)") }
    }

    package func unlock() { pthread_mutex_unlock(mutex) }
}

/// A value behind a lock.
///
/// Unchecked, but safe: the value is touched with the lock held only.
package final class Locked<Value>: @unchecked Sendable {
    private let lock = Lock()
    private var value: Value

    package init(_ value: sending Value) { self.value = value }

    /// Runs `body` with the value to itself. It must not come back for the lock.
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
