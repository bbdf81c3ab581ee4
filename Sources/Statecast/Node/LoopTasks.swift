internal import ZeroMQ

/// Runs tasks on a node's loop from their first line on.
///
/// A task that only calls the node would otherwise begin on Swift's pool, and wait there for as long as other people's
/// code holds its threads.
final class LoopTasks: TaskExecutor {
    private let loop: PollLoop

    init(on loop: PollLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) { loop.enqueue(job) }
}
