public import Synchronization

/// Where requests wait for their turn, and who may take turns: one thread at a time, the drainer.
///
/// One word says it all: nobody drains; somebody drains and nothing waits; or the newest of those who wait. So a request
/// to an idle core costs two atomic operations and no memory, and nobody ever waits for a lock. `Waiting` requests are
/// linked newest first; the drainer takes all of them at once and turns them round.
@usableFromInline
struct TurnLine<Request: Sendable>: ~Copyable, Sendable {
    /// A request that waits, in memory of its own. Only the thread that is about to link it touches it, and then the
    /// drainer.
    @usableFromInline
    struct Waiting {
        @usableFromInline let request: Request
        /// The one that came before.
        @usableFromInline var previous: UnsafeMutablePointer<Waiting>?

        @inlinable
        init(request: Request) { self.request = request }
    }

    @usableFromInline let word = Atomic<UInt>(Self.idle)
    /// The thread that drains, or 0: so that it can be told from others.
    @usableFromInline let drainer = Atomic<UInt>(0)

    /// How many requests wait, roughly.
    @usableFromInline let waitingCount = Atomic<Int>(0)

    @usableFromInline static var idle: UInt { 0 }
    @usableFromInline static var draining: UInt { 1 }

    init() {}

    /// Makes the caller the drainer, if nobody is.
    @inlinable
    func enter() -> Bool {
        let entered = word.compareExchange(
            expected: Self.idle,
            desired: Self.draining,
            ordering: .acquiringAndReleasing
        ).exchanged
        if entered { resume() }
        return entered
    }

    /// Ends draining, unless something waits.
    @inlinable
    func leave() -> Bool {
        pause()
        let left = word.compareExchange(
            expected: Self.draining,
            desired: Self.idle,
            ordering: .acquiringAndReleasing
        ).exchanged
        if !left { resume() }
        return left
    }

    /// The drainer goes on elsewhere, maybe on another thread: nobody enters meanwhile.
    @inlinable
    func pause() { drainer.store(0, ordering: .releasing) }

    /// The calling thread is the drainer from here on.
    @inlinable
    func resume() {
        _ = drainer.load(ordering: .acquiring)
        drainer.store(currentThread(), ordering: .relaxed)
    }

    /// Whether the calling thread is the drainer.
    @inlinable
    var isDrainedHere: Bool { drainer.load(ordering: .relaxed) == currentThread() }

    /// Puts a request in line, or makes the caller the drainer if nobody is any more.
    ///
    /// - Returns: whether the caller is the drainer now; the request is then not in line.
    @inlinable
    func join(_ request: Request) -> Bool {
        if enter() { return true }
        let waiting = UnsafeMutablePointer<Waiting>.allocate(capacity: 1)
        waiting.initialize(to: Waiting(request: request))
        var seen = word.load(ordering: .acquiring)
        while true {
            let desired: UInt
            if seen == Self.idle {
                desired = Self.draining
            } else {
                waiting.pointee.previous = Self.waiting(seen)
                desired = UInt(bitPattern: waiting)
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
                pace()
                return false
            }
            waiting.deinitialize(count: 1)
            waiting.deallocate()
            resume()
            return true
        }
    }

    /// Holds back a thread that puts in more than is taken out: the longer the line, the longer. Tasks only yield; other
    /// threads sleep for a few milliseconds at most, so no two threads can wait for each other.
    @inlinable
    func pace() {
        let count = waitingCount.wrappingAdd(1, ordering: .relaxed).newValue
        guard count >= Self.pacedFrom, !isDrainedHere else { return }
        holdBack(for: min(count / Self.pacedFrom, 64))
    }

    /// So many may wait before threads that dispatch are held back.
    @inlinable static var pacedFrom: Int { 1_024 }

    @inlinable
    static func waiting(_ word: UInt) -> UnsafeMutablePointer<Waiting>? {
        word == draining ? nil : UnsafeMutablePointer(bitPattern: word)
    }

    /// So many that were taken have had their turn.
    @inlinable
    func took(_ count: Int) {
        if count > 0 { waitingCount.wrappingSubtract(count, ordering: .relaxed) }
    }

    /// Takes all that waits, oldest first. For the drainer.
    @inlinable
    func takeAll() -> Taken {
        let word = word.exchange(Self.draining, ordering: .acquiringAndReleasing)
        var taken = Taken()
        var next = Self.waiting(word)
        while let waiting = next {
            taken.count += 1
            next = waiting.pointee.previous
            waiting.pointee.previous = taken.first
            taken.first = waiting
        }
        return taken
    }

    /// Requests whose turn is next, linked oldest first. Whoever holds them takes all of them out.
    @usableFromInline
    struct Taken {
        @usableFromInline var first: UnsafeMutablePointer<Waiting>?
        /// How many there were.
        @usableFromInline var count = 0

        @inlinable
        init() {}

        @inlinable
        mutating func popFirst() -> Request? {
            guard let first else { return nil }
            let waiting = first.move()
            first.deallocate()
            self.first = waiting.previous
            return waiting.request
        }
    }
}
