import Dispatch
import Foundation

/// Blocks or suspends callers until it is opened, permanently.
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

/// Runs `body` on `count` new threads, which it receives the number of, and `other` meanwhile;
/// returns after all have ended.
func onThreads(
    _ count: Int,
    _ body: @escaping @Sendable (_ thread: Int) -> Void,
    meanwhile other: () async -> Void = {}
) async {
    let ended = Recorder<Int>()
    for index in 0..<count {
        Thread.detachNewThread {
            body(index)
            ended.record(index)
        }
    }
    await other()
    await ended.reaching(count)
}

/// Runs `body` on a new thread and blocks the calling thread until it has ended.
func elsewhere(_ body: @escaping @Sendable () -> Void) {
    let ended = Gate()
    Thread.detachNewThread {
        body()
        ended.open()
    }
    ended.block()
}
