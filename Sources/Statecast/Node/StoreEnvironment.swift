import Dispatch
package import StatecastProtocol
import StatecastThreading

/// What a node needs beside its sockets: clocks, random numbers, and places for work that must not block its loop.
/// Nodes use threads; a simulation runs everything in one thread, at times of its own.
package protocol StoreEnvironment: Sendable {
    /// Now, on the steady clock.
    var now: Instant { get }
    /// The wall clock.
    var time: Timestamp { get }
    /// Random bits that no other process can guess.
    func randomBits() -> UInt64
    /// A queue that runs one job at a time, in order.
    func makeQueue(_ label: String, _ priority: WorkPriority) -> any WorkQueue
    /// Starts work that may take long, with a low priority.
    func startInBackground(_ work: @escaping @Sendable () -> Void)
    /// Where the tasks of effects run; `nil`: as usual for tasks.
    var effectExecutor: (any TaskExecutor)? { get }
}

/// The random numbers of an environment: for secrets, identities, nonces, and delays or their seed.
struct EnvironmentRandom: RandomNumberGenerator {
    let environment: any StoreEnvironment

    func next() -> UInt64 { environment.randomBits() }
}

/// How soon the jobs of a queue run.
package enum WorkPriority: Sendable {
    /// A node waits for them.
    case high
    case low
}

/// A queue that runs one job at a time, in order.
package protocol WorkQueue: Sendable {
    func async(_ job: @escaping @Sendable () -> Void)
    /// Runs a job after those that were added before, and waits for it. Not for jobs of the same queue.
    func sync(_ job: @Sendable () -> Void)
}

/// Work on threads of Dispatch, with the clocks of a node.
struct ThreadedEnvironment: StoreEnvironment {
    let clock: NodeClock

    var now: Instant { clock.now }
    var time: Timestamp { clock.time }
    var effectExecutor: (any TaskExecutor)? { nil }

    func randomBits() -> UInt64 { .random(in: .min ... .max) }

    func makeQueue(_ label: String, _ priority: WorkPriority) -> any WorkQueue {
        DispatchQueue(label: label, qos: priority == .high ? .userInitiated : .utility)
    }

    func startInBackground(_ work: @escaping @Sendable () -> Void) { Threads.startInBackground(work) }
}

extension DispatchQueue: WorkQueue {
    package func async(_ job: @escaping @Sendable () -> Void) { async(execute: job) }
    package func sync(_ job: @Sendable () -> Void) { sync(execute: job) }
}
