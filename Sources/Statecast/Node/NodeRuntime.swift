import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A node's clocks: a steady one for deadlines, and the wall clock, which is used in states and messages only.
struct NodeClock: Sendable {
    private let origin = ContinuousClock.now

    /// Now, on the steady clock.
    var now: Instant { Instant(offset: origin.duration(to: .now)) }

    /// An instant of the steady clock in the form that the loop's timers expect.
    func deadline(_ instant: Instant) -> ContinuousClock.Instant { origin.advanced(by: instant.offset) }

    /// The wall clock.
    var time: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }
}

enum NodeDefaults {
    /// Longer than a commit to a fast disk takes.
    static let maxBusyPolling = Duration.microseconds(400)
    /// `HOST:PID`.
    static let peerName: String = {
        var host = [CChar](repeating: 0, count: 256)
        gethostname(&host, host.count - 1)
        // Cuts a long host name, and not the number of the process, which distinguishes the processes of a host.
        let name = String(decoding: host.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(name.prefix(48)):\(getpid())"
    }()
}

/// Runs tasks on a node's loop from their first line on.
///
/// A task that only calls the node would otherwise start on Swift's pool, and wait there while user code occupies all
/// of its threads.
final class LoopTaskExecutor: TaskExecutor {
    private let loop: PollLoop

    init(on loop: PollLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) { loop.enqueue(job) }
}

/// Runs the jobs of tasks on threads with a low priority, one thread for each job: for work that takes long and would
/// delay the loops of other nodes.
final class BackgroundTaskExecutor: TaskExecutor {
    static let shared = BackgroundTaskExecutor()

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Threads.startInBackground { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension Threads {
    /// That of a loop, since the code of a user's state runs on all of them.
    private static let stackBytes = 8 << 20

    /// Starts work that may take long on a thread with a low priority, so that it does not delay the nodes' loops.
    static func startInBackground(_ work: @escaping @Sendable () -> Void) {
        run(name: "statecast-background", stackBytes: stackBytes, priority: .low, work)
    }

    /// Runs work that blocks on a thread of its own, since Swift's pool has few, and waits for its result.
    package static func runBlocking<Result: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Result
    ) async throws(Failure) -> Result {
        let result = await withCheckedContinuation { continuation in
            run(name: "statecast-blocking", stackBytes: stackBytes) {
                continuation.resume(returning: Swift.Result(catching: work))
            }
        }
        return try result.get()
    }
}
