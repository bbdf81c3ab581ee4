import Dispatch
public import StatecastThreading
public import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A queue of requests that one thread at a time drains: the drainer.
///
/// A request to an idle queue costs two atomic operations and no allocation. Other requests are enqueued under a lock,
/// and the drainer takes all of them at once.
@usableFromInline
struct SerialDrainQueue<Request: Sendable>: ~Copyable, Sendable {
    @usableFromInline let phase = Atomic(Self.idle)
    /// The thread that drains, or 0.
    @usableFromInline let drainer = Atomic<UInt>(0)
    /// The number of requests that the drainer has taken, until it has dequeued all of them.
    @usableFromInline let takenCount = Atomic(0)
    @usableFromInline let lock = Lock()
    /// Safe: accessed only while the lock is held.
    @usableFromInline nonisolated(unsafe) let queued: UnsafeMutablePointer<FIFO<Request>>
    /// The requests that the drainer has taken. Safe: only the drainer accesses it.
    @usableFromInline nonisolated(unsafe) let batch: UnsafeMutablePointer<FIFO<Request>>

    @inlinable static var idle: UInt { 0 }
    /// A drainer processes requests, and there are no queued ones.
    @inlinable static var draining: UInt { 1 }
    /// A drainer processes requests, and there are queued ones. This phase ends under the lock.
    @inlinable static var pending: UInt { 2 }

    init() {
        queued = .allocate(capacity: 1)
        queued.initialize(to: FIFO())
        batch = .allocate(capacity: 1)
        batch.initialize(to: FIFO())
    }

    deinit {
        queued.deinitialize(count: 1)
        queued.deallocate()
        batch.deinitialize(count: 1)
        batch.deallocate()
    }

    // MARK: Draining

    /// Makes the caller the drainer if the queue is idle.
    @inlinable
    func beginDraining() -> Bool {
        // A failing exchange would take the cache line from the other threads.
        guard phase.load(ordering: .relaxed) == Self.idle,
            phase.compareExchange(expected: Self.idle, desired: Self.draining, ordering: .acquiring).exchanged
        else { return false }
        attachDrainer()
        return true
    }

    /// Makes the queue idle if it is empty. Otherwise the caller remains the drainer.
    @inlinable
    func endDraining() -> Bool {
        detachDrainer()
        let isIdle = phase.compareExchange(
            expected: Self.draining,
            desired: Self.idle,
            ordering: .acquiringAndReleasing
        ).exchanged
        if !isIdle { attachDrainer() }
        return isIdle
    }

    /// Detaches the draining thread while the queue stays in its draining phase, to continue on another thread.
    @inlinable
    func detachDrainer() { drainer.store(0, ordering: .releasing) }

    /// Makes the calling thread the drainer.
    @inlinable
    func attachDrainer() {
        _ = drainer.load(ordering: .acquiring)
        drainer.store(Threads.currentID, ordering: .relaxed)
    }

    /// Whether the calling thread is the drainer.
    @inlinable
    var isDrainedByCaller: Bool { drainer.load(ordering: .relaxed) == Threads.currentID }

    // MARK: Enqueuing

    /// Enqueues a request.
    ///
    /// Slows down a thread that enqueues faster than the drainer dequeues, in proportion to the length of the queue.
    /// Tasks only yield; other threads sleep for a few milliseconds at most, so two threads cannot wait for each other.
    ///
    /// - Returns: whether the queue was idle. The caller is then the drainer of the request.
    @inlinable
    func enqueue(_ request: consuming Request) -> Bool {
        lock.lock()
        queued.pointee.append(request)
        let count = queued.pointee.count
        let wasIdle =
            phase.load(ordering: .relaxed) != Self.pending
            && phase.exchange(Self.pending, ordering: .acquiringAndReleasing) == Self.idle
        lock.unlock()
        if wasIdle {
            attachDrainer()
            return true
        }
        let length = count + takenCount.load(ordering: .relaxed)
        if length >= Self.maxUnpacedCount, !isDrainedByCaller {
            slowDown(pressure: min(length / Self.maxUnpacedCount, 64))
        }
        return false
    }

    /// The number of queued requests from which on enqueuing threads are slowed down.
    @inlinable static var maxUnpacedCount: Int { 1_024 }

    // MARK: Dequeuing

    /// Dequeues the oldest request. For the drainer.
    @inlinable
    func popFirst() -> Request? {
        if batch.pointee.count == 0 {
            guard phase.load(ordering: .relaxed) == Self.pending else {
                takenCount.store(0, ordering: .relaxed)
                return nil
            }
            lock.lock()
            swap(&batch.pointee, &queued.pointee)
            takenCount.store(batch.pointee.count, ordering: .relaxed)
            phase.store(Self.draining, ordering: .relaxed)
            lock.unlock()
        }
        return batch.pointee.popFirst()
    }
}

/// Slows down the calling thread.
///
/// A task only yields its thread, because a sleeping thread of the cooperative pool keeps other tasks from running.
/// Other threads yield once while the queue is short and sleep beyond that: where many threads yield in turn, the
/// drainer gets no larger share of the processor than each of them.
///
/// - Parameter pressure: 1 to 64. At 1 the thread yields once. Beyond, a task yields that many times, and another
///   thread sleeps for 50 microseconds each.
@usableFromInline
func slowDown(pressure: Int) {
    if pressure == 1 || withUnsafeCurrentTask(body: { $0 != nil }) {
        for _ in 0..<pressure { sched_yield() }
    } else {
        usleep(UInt32(pressure) * 50)
    }
}

/// Runs `body` on a thread of Dispatch.
///
/// Tasks that dispatch may occupy every thread of the cooperative pool while their requests wait to be reduced. A new
/// serial queue gets a thread outside of that pool; Dispatch has about 250.
@usableFromInline
func runOnDispatchThread(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "statecast.core.drain", qos: .userInitiated).async(execute: body)
}
