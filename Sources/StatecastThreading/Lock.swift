public import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Dispatch
#endif

/// A mutex that traps on recursion.
///
/// Acquiring and releasing it without contention takes one inlined atomic operation each, less than half the time of a
/// pthread mutex. Contending threads wait on a semaphore.
///
/// On Linux, ThreadSanitizer does not see the ordering that a contended `Synchronization.Mutex` establishes, and
/// reports false races. It sees the atomic operations of this lock.
///
/// Unchecked `Sendable`: a semaphore may be used from any thread.
@usableFromInline
package final class Lock: @unchecked Sendable {
    /// 0 if the lock is free, otherwise the id of the owner, whose lowest bit is set if other threads may wait.
    @usableFromInline let word = Atomic<UInt>(0)
    /// What contending threads wait on. It counts the wake-ups: none is lost, as with condition variables of glibc
    /// before 2.41 (bug 25847).
    private let wakeUps = Semaphore()
    private let onRecursion: StaticString

    /// - Parameter onRecursion: the message of the trap if a thread acquires a lock that it already holds.
    @usableFromInline
    package init(onRecursion: StaticString = "a thread acquires a lock that it already holds") {
        self.onRecursion = onRecursion
    }

    deinit { wakeUps.destroy() }

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
        var seen = word.load(ordering: .relaxed)
        // A thread that waited marks the word when it acquires the lock, because others may wait beside it.
        var acquired = thread
        while true {
            guard seen & ~Self.hasWaiters != thread else { fatalError("\(onRecursion)") }
            let desired = seen == 0 ? acquired : seen | Self.hasWaiters
            let (done, now) = word.compareExchange(expected: seen, desired: desired, ordering: .acquiring)
            if done, seen == 0 { return }
            seen = now
            guard done else { continue }
            wakeUps.wait()
            acquired = thread | Self.hasWaiters
            seen = word.load(ordering: .relaxed)
        }
    }

    /// Wakes a waiting thread, which wakes the next one when it releases the lock.
    @usableFromInline
    func wake() { wakeUps.signal() }
}

/// A counting semaphore, 0 at first.
private struct Semaphore {
    #if canImport(Darwin)
        private let semaphore = DispatchSemaphore(value: 0)

        func wait() { semaphore.wait() }
        func signal() { semaphore.signal() }
        func destroy() {}
    #else
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init() {
            semaphore.initialize(to: sem_t())
            sem_init(semaphore, 0, 0)
        }

        func wait() {
            // Signal handlers interrupt it.
            while sem_wait(semaphore) != 0 {}
        }

        func signal() { sem_post(semaphore) }

        func destroy() {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }
    #endif
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
