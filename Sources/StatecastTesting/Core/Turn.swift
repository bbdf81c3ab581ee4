/// A stretch of a test core's work, during which what is sent comes at once: its order does not depend on any effect's
/// pace.
enum Turn {
    private struct Worker {
        let task: Int?
    }

    @TaskLocal private static var worker: Worker?

    /// Works for one turn.
    static func take<Result>(_ work: () -> Result) -> Result {
        $worker.withValue(Worker(task: currentTask), operation: work)
    }

    /// Whether the caller is part of a turn. Tasks begun in one are not, though they inherit its values.
    static var isUnderWay: Bool { worker.map { $0.task == currentTask } ?? false }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
