import Foundation

/// Runs `body` on so many threads of their own, which are told apart by their number, and something else meanwhile;
/// returns when all have ended.
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

/// Runs `body` on a thread of its own and blocks the calling one until it has ended.
func elsewhere(_ body: @escaping @Sendable () -> Void) {
    let ended = Gate()
    Thread.detachNewThread {
        body()
        ended.open()
    }
    ended.block()
}
