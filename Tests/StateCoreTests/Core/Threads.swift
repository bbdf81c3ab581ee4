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
