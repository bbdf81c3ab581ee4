internal import Dispatch
public import Synchronization
public import Threading

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A lock-free queue of requests that one thread at a time drains: the drainer.
///
/// One atomic word holds the whole state: idle, draining with an empty queue, or the newest queued node. A request to
/// an idle queue costs two atomic operations and no allocation. Queued nodes are linked newest first; the drainer
/// dequeues all of them at once and reverses the list.
@usableFromInline
struct SerialDrainQueue<Request: Sendable>: ~Copyable, Sendable {
    /// A queued request. Only the thread that links it accesses it, and afterwards the drainer.
    @usableFromInline
    struct Node {
        @usableFromInline let request: Request
        /// In the queue the node enqueued before this one, in a batch the next one.
        @usableFromInline var link: UnsafeMutablePointer<Node>?

        @inlinable
        init(request: Request) { self.request = request }
    }

    @usableFromInline let word = Atomic<UInt>(Self.idle)
    /// The thread that drains, or 0.
    @usableFromInline let drainer = Atomic<UInt>(0)
    /// The approximate number of queued requests.
    @usableFromInline let queuedCount = Atomic<Int>(0)

    @usableFromInline static var idle: UInt { 0 }
    @usableFromInline static var draining: UInt { 1 }

    init() {}

    // MARK: Draining

    /// Makes the caller the drainer if the queue is idle.
    @inlinable
    func beginDraining() -> Bool {
        let isDrainer = word.compareExchange(
            expected: Self.idle,
            desired: Self.draining,
            ordering: .acquiringAndReleasing
        ).exchanged
        if isDrainer { attachDrainer() }
        return isDrainer
    }

    /// Makes the queue idle if it is empty. Otherwise the caller remains the drainer.
    @inlinable
    func endDraining() -> Bool {
        detachDrainer()
        let isIdle = word.compareExchange(
            expected: Self.draining,
            desired: Self.idle,
            ordering: .acquiringAndReleasing
        ).exchanged
        if !isIdle { attachDrainer() }
        return isIdle
    }

    /// Detaches the draining thread while the queue stays in its draining state, to continue on another thread.
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

    /// Enqueues a request, or makes the caller the drainer if the queue is idle.
    ///
    /// - Returns: whether the caller is now the drainer; the request is then not enqueued.
    @inlinable
    func enqueueOrBeginDraining(_ request: Request) -> Bool {
        if beginDraining() { return true }
        let node = UnsafeMutablePointer<Node>.allocate(capacity: 1)
        node.initialize(to: Node(request: request))
        var seen = word.load(ordering: .acquiring)
        while true {
            let desired: UInt
            if seen == Self.idle {
                desired = Self.draining
            } else {
                node.pointee.link = Self.node(seen)
                desired = UInt(bitPattern: node)
            }
            let (done, now) = word.compareExchange(
                expected: seen,
                desired: desired,
                ordering: .acquiringAndReleasing
            )
            guard done else {
                seen = now
                continue
            }
            guard desired == Self.draining else {
                applyBackpressure()
                return false
            }
            node.deinitialize(count: 1)
            node.deallocate()
            attachDrainer()
            return true
        }
    }

    /// Slows down a thread that enqueues faster than the drainer dequeues, in proportion to the length of the queue.
    /// Tasks only yield; other threads sleep for a few milliseconds at most, so two threads cannot wait for each other.
    @inlinable
    func applyBackpressure() {
        let count = queuedCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard count >= Self.unpacedCountMax, !isDrainedByCaller else { return }
        slowDown(pressure: min(count / Self.unpacedCountMax, 64))
    }

    /// The number of queued requests from which on enqueuing threads are slowed down.
    @inlinable static var unpacedCountMax: Int { 1_024 }

    @inlinable
    static func node(_ word: UInt) -> UnsafeMutablePointer<Node>? {
        word == draining ? nil : UnsafeMutablePointer(bitPattern: word)
    }

    // MARK: Dequeuing

    /// Dequeues all requests, oldest first. For the drainer.
    @inlinable
    func dequeueAll() -> Batch {
        let word = word.exchange(Self.draining, ordering: .acquiringAndReleasing)
        var batch = Batch()
        var next = Self.node(word)
        while let node = next {
            batch.count += 1
            next = node.pointee.link
            node.pointee.link = batch.first
            batch.first = node
        }
        return batch
    }

    /// Subtracts a processed batch from the number of queued requests.
    @inlinable
    func didProcess(_ count: Int) {
        if count > 0 { queuedCount.wrappingSubtract(count, ordering: .relaxed) }
    }

    /// Dequeued requests, linked oldest first. The owner must pop all of them.
    @usableFromInline
    struct Batch {
        @usableFromInline var first: UnsafeMutablePointer<Node>?
        /// The number of requests that the batch had at first.
        @usableFromInline var count = 0

        @inlinable
        init() {}

        @inlinable
        mutating func popFirst() -> Request? {
            guard let first else { return nil }
            let node = first.move()
            first.deallocate()
            self.first = node.link
            return node.request
        }
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
