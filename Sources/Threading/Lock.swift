public import Synchronization

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A mutex that traps on recursion.
///
/// Acquiring and releasing it without contention takes one inlined atomic operation each, less than half the time of a
/// pthread mutex. Contending threads wait on a condition variable.
///
/// On Linux, ThreadSanitizer does not see the ordering that a contended `Synchronization.Mutex` establishes, and
/// reports false races. It sees the atomic operations of this lock.
///
/// Unchecked `Sendable`: pthread functions may be called from any thread.
@usableFromInline
package final class Lock: @unchecked Sendable {
    /// 0 if the lock is free, otherwise the id of the owner, whose lowest bit is set if other threads may wait.
    @usableFromInline let word = Atomic<UInt>(0)
    // What contending threads wait on.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private let onRecursion: StaticString

    /// - Parameter onRecursion: the message of the trap if a thread acquires a lock that it already holds.
    @usableFromInline
    package init(onRecursion: StaticString = "a thread acquires a lock that it already holds") {
        self.onRecursion = onRecursion
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    @inlinable
    package func lock() {
        let thread = Threads.currentID
        if !word.compareExchange(expected: 0, desired: thread, ordering: .acquiring).exchanged { wait(as: thread) }
    }

    @inlinable
    package func unlock() {
        if word.exchange(0, ordering: .releasing) & Self.hasWaiters != 0 { wake() }
    }

    /// The bit of the word that the ids of threads, which are addresses, leave free.
    @usableFromInline static var hasWaiters: UInt { 1 }

    /// Acquires the lock after a failed attempt.
    @usableFromInline
    func wait(as thread: UInt) {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        var seen = word.load(ordering: .relaxed)
        while true {
            guard seen & ~Self.hasWaiters != thread else { fatalError("\(onRecursion)") }
            // Marked even if the lock is free, because other threads may wait beside this one.
            let desired = (seen == 0 ? thread : seen) | Self.hasWaiters
            let (done, now) = word.compareExchange(expected: seen, desired: desired, ordering: .acquiring)
            if done, seen == 0 { return }
            seen = now
            guard done else { continue }
            // The owner wakes with the mutex held: it cannot miss a thread that has marked the word.
            pthread_cond_wait(condition, mutex)
            seen = word.load(ordering: .relaxed)
        }
    }

    /// Wakes a waiting thread, which wakes the next one when it releases the lock.
    @usableFromInline
    func wake() {
        pthread_mutex_lock(mutex)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }
}

/// A value that is only accessible while its lock is held.
///
/// Inlinable, so that other modules specialize it: each action passes several of these locks.
///
/// Unchecked `Sendable`: every access to the value holds the lock.
@usableFromInline
package final class Locked<Value: ~Copyable>: @unchecked Sendable {
    @usableFromInline let lock = Lock()
    /// In memory of its own, because Swift checks exclusive access to properties at run time.
    @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

    @inlinable
    package init(_ value: consuming sending Value) { self.value.initialize(to: value) }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
    }

    /// Runs `body` with exclusive access to the value. `body` must not acquire the same lock.
    @inlinable
    package func withLock<Result, Failure: Error>(_ body: (inout Value) throws(Failure) -> Result) throws(Failure)
        -> Result
    {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value.pointee)
    }
}
