import Dispatch
import StatecastThreading

/// A job that may wait for virtual time, as code does that calls a database: it runs on a thread of its own, while the
/// thread of the simulation waits. Only one of the two runs at a time.
///
/// Unchecked, but safe: see ``World``. The semaphores order what the threads do.
final class BlockingJob: @unchecked Sendable {
    private let resumed = DispatchSemaphore(value: 0)
    private let stopped = DispatchSemaphore(value: 0)
    private let world: World
    private let job: () -> Void
    /// Called on the simulation's thread when the job is done.
    private let onEnd: () -> Void
    private var thread: JobThreads.JobThread?
    private(set) var isDone = false
    /// Ends the wait in progress at once.
    private var endWait: (() -> Void)?

    /// Runs a job until it waits or is done.
    init(in world: World, _ job: @escaping () -> Void, onEnd: @escaping () -> Void) {
        (self.world, self.job, self.onEnd) = (world, job, onEnd)
        thread = world.threads.run { [self] in
            resumed.wait()
            self.job()
            isDone = true
            stopped.signal()
        }
        run()
    }

    private func run() {
        let outer = world.blockingJob
        world.blockingJob = self
        resumed.signal()
        stopped.wait()
        world.blockingJob = outer
        guard isDone, let thread else { return }
        self.thread = nil
        world.threads.reuse(thread)
        onEnd()
    }

    /// Suspends the job until `begin` calls its argument with the answer, on the simulation's thread or at once.
    ///
    /// - Parameter completeNow: called if the job must end before the simulation goes on; has to answer at once.
    func wait<Answer>(
        orNow completeNow: @escaping () -> Void,
        _ begin: (@escaping (Answer) -> Void) -> Void
    ) -> Answer {
        var answer: Answer?
        var isWaiting = false
        begin { [self] given in
            guard answer == nil else { return }
            answer = given
            if isWaiting { run() }
        }
        while true {
            if let answer { return answer }
            (isWaiting, endWait) = (true, completeNow)
            stopped.signal()
            resumed.wait()
            (isWaiting, endWait) = (false, nil)
        }
    }

    /// Waits in a job until `begin`'s argument is called.
    func wait(orNow completeNow: @escaping () -> Void = {}, until begin: (@escaping () -> Void) -> Void) {
        var end: () -> Void = {}
        wait(
            orNow: {
                completeNow()
                end()
            }
        ) { (answer: @escaping (()) -> Void) in
            end = { answer(()) }
            begin(end)
        }
    }

    /// Lets the job end before the caller goes on.
    func finish() { while !isDone { endWait?() } }
}

/// Threads that run one job after the other, kept for the next ones.
///
/// Unchecked, but safe: see ``World``.
final class JobThreads: @unchecked Sendable {
    final class JobThread: @unchecked Sendable {
        fileprivate let wanted = DispatchSemaphore(value: 0)
        /// `nil`: the thread ends.
        fileprivate var job: (() -> Void)?
    }

    private var idle: [JobThread] = []

    deinit {
        for thread in idle {
            thread.job = nil
            thread.wanted.signal()
        }
    }

    func run(_ job: @escaping () -> Void) -> JobThread {
        let thread = idle.popLast() ?? start()
        thread.job = job
        thread.wanted.signal()
        return thread
    }

    /// The job of a thread is done. It refers to the world, which has the threads.
    func reuse(_ thread: JobThread) {
        thread.job = nil
        idle.append(thread)
    }

    private func start() -> JobThread {
        let thread = JobThread()
        do {
            try Threads.start(name: "simulated-job", stackBytes: 4 << 20) {
                while true {
                    thread.wanted.wait()
                    guard let job = thread.job else { return }
                    job()
                }
            }
        } catch { preconditionFailure("the system starts no thread: \(error)") }
        return thread
    }
}
