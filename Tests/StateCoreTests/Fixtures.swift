import Dispatch
import Locking
import StateCore

/// Numbers in the order in which they were added.
struct Log: Codable, Equatable, Sendable {
    var entries: [Int] = []

    static let reducer = Reducer<Log> { log, action in
        guard let action = action as? Append else { return }
        log.entries.append(action.number)
    }
}

struct Append: Action, Equatable {
    var number: Int

    init(_ number: Int) {
        self.number = number
    }
}

/// Starts the effect of that name, in a core that has one.
struct Perform: Action, Equatable {
    var effect: String

    init(_ effect: String) {
        self.effect = effect
    }
}

/// A core that adds numbers to a log, under a clock that stands still.
func logCore() -> Core<Log> {
    Core(Log(), reducer: Log.reducer, now: { .epoch })
}

/// A core that adds numbers to a log, and answers `Perform` with the effect of that name.
func effectCore(_ effects: [String: Effect]) -> Core<Log> {
    let performer = Reducer<Log> { _, action -> Effect in
        guard let action = action as? Perform else { return .none }
        return effects[action.effect] ?? .none
    }
    return Core(Log(), reducer: .combine(Log.reducer, performer), now: { .epoch })
}

/// Collects what callbacks see, from any thread.
///
/// With pthread locks, as the sources: ThreadSanitizer does not see what a `Mutex` orders.
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

    /// All that was recorded, once there are that many.
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

/// Holds up whoever comes until it is opened, once and for all.
final class Gate: Sendable {
    private let opened = Recorder<Void>()
    private let semaphore = DispatchSemaphore(value: 0)

    var isOpen: Bool { !opened.all.isEmpty }

    func open() {
        opened.record(())
        semaphore.signal()
    }

    /// Suspends until it is open.
    func passed() async { await opened.reaching(1) }

    /// Blocks the thread until it is open.
    func block() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// Suspends until the task is cancelled.
func cancellation() async {
    let (never, continuation) = AsyncStream.makeStream(of: Void.self)
    for await _ in never {}
    withExtendedLifetime(continuation) {}
}

/// Something set later, from any thread: lets a callback reach what is made after it.
final class Box<Value: Sendable>: Sendable {
    private let stored: Locked<Value?>

    init(_ value: Value? = nil) {
        stored = Locked(value)
    }

    var value: Value? { stored.withLock { $0 } }

    func set(_ value: Value?) {
        // The former value ends outside the lock: its end may come back here.
        let former = stored.withLock { stored in
            let former = stored
            stored = value
            return former
        }
        withExtendedLifetime(former) {}
    }
}

/// Says when the last one who holds it lets go of it.
final class Witness: Sendable {
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void) {
        self.onEnd = onEnd
    }

    deinit { onEnd() }
}
