/// What other threads leave for a loop, under its lock.
struct Inbox {
    enum Phase {
        /// Waiting for sockets and jobs. Leaves to `draining` at the shutdown.
        case polling
        /// A thread is running the last jobs. Leaves to `ended` when there are none.
        case draining
        /// No thread. Leaves to `draining` when a job comes.
        case ended
    }

    var phase = Phase.polling
    var jobs: [UnownedJob] = []
    var dropped: [Roster.ID] = []

    /// Whether the loop's thread sleeps, or is about to, so that it must be woken.
    var isAsleep = false

    /// Marks the loop as woken: one wake-up is enough for everything that comes until it sleeps again.
    ///
    /// - Returns: whether the caller is the one to wake it.
    mutating func awake() -> Bool {
        defer { isAsleep = false }
        return isAsleep
    }
}

/// The jobs that a loop has taken out of its inbox, in order.
struct JobBacklog {
    private var jobs: [UnownedJob] = []
    private var next = 0

    var isEmpty: Bool { next == jobs.count }

    /// Swaps the emptied array for the full one, so that both keep their room.
    mutating func refill(from inbox: inout [UnownedJob]) {
        precondition(isEmpty, "refilled with \(jobs.count - next) jobs left")
        jobs.removeAll(keepingCapacity: true)
        next = 0
        swap(&jobs, &inbox)
    }

    /// Runs the first jobs, at most so many.
    mutating func run(atMost limit: Int, on executor: UnownedSerialExecutor) {
        let end = next + min(limit, jobs.count - next)
        while next < end {
            let job = jobs[next]
            next += 1
            job.runSynchronously(on: executor)
        }
    }
}
