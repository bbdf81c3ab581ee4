import StatecastThreading
import Synchronization

/// Records values from any thread.
///
/// It uses pthread locks like the sources, because ThreadSanitizer does not see the ordering of a `Mutex`.
final class Recorder<Element: Sendable>: Sendable {
    private struct Recorded {
        var elements: [Element] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let recorded = Locked(Recorded())

    var all: [Element] { recorded.withLock { $0.elements } }

    func record(_ element: Element) {
        let reached = recorded.withLock { recorded in
            recorded.elements.append(element)
            let count = recorded.elements.count
            let reached = recorded.waiting.filter { $0.count <= count }
            recorded.waiting.removeAll { $0.count <= count }
            return reached.map(\.continuation)
        }
        for continuation in reached { continuation.resume() }
    }

    /// Returns all recorded values once there are at least `count`.
    @discardableResult
    func reaching(_ count: Int) async -> [Element] {
        await withCheckedContinuation { continuation in
            let isReached = recorded.withLock { recorded in
                guard recorded.elements.count < count else { return true }
                recorded.waiting.append((count, continuation))
                return false
            }
            if isReached { continuation.resume() }
        }
        return all
    }
}

/// Records values that a test awaits.
final class Arrivals<Element: Sendable>: Sendable {
    private let stream: AsyncStream<Element>
    private let continuation: AsyncStream<Element>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func record(_ element: Element) { continuation.yield(element) }

    /// Waits for the next `count` elements.
    func next(_ count: Int) async -> [Element] {
        var elements: [Element] = []
        for await element in stream.prefix(count) { elements.append(element) }
        return elements
    }

    func next() async -> Element? { await next(1).first }
}

/// Counts calls, from any thread.
final class Tally: Sendable {
    private let calls = Atomic(0)

    var count: Int { calls.load(ordering: .sequentiallyConsistent) }

    /// Counts a call and returns `value`.
    func counting<Value>(_ value: Value) -> Value {
        calls.add(1, ordering: .sequentiallyConsistent)
        return value
    }
}

/// A value that is set later, from any thread, so that a callback can access an object created after it.
final class Box<Value: Sendable>: Sendable {
    private let stored: Locked<Value?>

    init(_ value: Value? = nil) {
        stored = Locked(value)
    }

    var value: Value? { stored.withLock { $0 } }

    func set(_ value: Value?) {
        // The former value is released outside the lock, because its release may access this box.
        let former = stored.withLock { stored in
            let former = stored
            stored = value
            return former
        }
        withExtendedLifetime(former) {}
    }
}

/// Calls a closure when the last reference to it is released.
final class Witness: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
