import StatecastZeroMQ

/// An actor on a loop in which tests run closures.
actor Probe {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// What happened, in order.
    private(set) var events: [String] = []
    private var awaited: (count: Int, continuation: CheckedContinuation<[String], Never>)?

    /// Watches and timers of the test.
    var watches: [Watch] = []
    var timers: [DeadlineTimer] = []

    init(on loop: PollLoop) { self.loop = loop }

    func record(_ event: String) {
        events.append(event)
        if let awaited, events.count >= awaited.count {
            self.awaited = nil
            awaited.continuation.resume(returning: events)
        }
    }

    /// Waits for `count` events.
    func events(count: Int) async -> [String] {
        if events.count >= count { return events }
        return await withCheckedContinuation { awaited = (count, $0) }
    }

    /// Runs `body` on the loop.
    func run<R: Sendable, E: Error>(_ body: @Sendable (isolated Probe) throws(E) -> R) throws(E) -> R {
        try body(self)
    }

    /// A trigger on the loop.
    func trigger(_ answer: @escaping @Sendable (Probe) -> Void) -> LoopTrigger {
        loop.makeTrigger { [weak self] in if let self { answer(self) } }
    }

    /// Traps unless it is called on the loop.
    nonisolated func assumeOnLoop() { assumeIsolated { _ in } }

    /// Keeps the loop busy with jobs until something happens.
    func yieldUntilEvent() async {
        while events.isEmpty { await Task.yield() }
    }
}

/// Runs `body` with a loop and an actor on it, and ends the loop.
func withProbe(
    name: String = "statecast-loop",
    maxBusyPolling: Duration = .zero,
    _ body: (Probe, PollLoop) async throws -> Void
) async throws {
    let loop = try PollLoop(name: name, maxBusyPolling: maxBusyPolling)
    defer { loop.shutdown() }
    try await body(Probe(on: loop), loop)
}

/// An object whose end a test can wait for: the stream finishes with it.
final class Token: Sendable {
    private let end: AsyncStream<Never>.Continuation

    private init(_ end: AsyncStream<Never>.Continuation) { self.end = end }

    deinit { end.finish() }

    static func make() -> (released: AsyncStream<Never>, token: Token) {
        let (stream, end) = AsyncStream<Never>.makeStream()
        return (stream, Token(end))
    }
}
