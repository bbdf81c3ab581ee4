public import Dispatch

/// Where an observer's callback runs.
///
/// Wherever that is, changes arrive one at a time and in order, also on a queue that is concurrent.
public struct Delivery: Sendable {
    /// Runs work there, some time later; nil if the callback is called where the change is made.
    let run: (@Sendable (_ work: @escaping @Sendable () -> Void) -> Void)?

    /// Where the change is made, before anything else happens to the state. The callback should be quick.
    public static let inline = Delivery(run: nil)

    /// On the main actor: the callback may use `MainActor.assumeIsolated`. It need not if it is observed on
    /// `MainActor.shared` instead.
    public static let mainActor = Delivery { work in
        Task.detached { @MainActor in work() }
    }

    /// On an actor's executor: the callback may use `assumeIsolated` of each actor that runs there.
    public static func executor(_ executor: any SerialExecutor) -> Delivery {
        let lane = Lane(executor)
        return Delivery { work in
            Task.detached { await lane.run(work) }
        }
    }

    /// On an executor of tasks, such as a pool of threads of one's own.
    public static func taskExecutor(_ executor: any TaskExecutor) -> Delivery {
        Delivery { work in
            Task.detached(executorPreference: executor) { work() }
        }
    }

    /// On a dispatch queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> Delivery {
        Delivery { work in queue.async(execute: work) }
    }
}

/// An actor for nothing but to be on a given executor: plain work can only be put on one as an actor's.
private actor Lane {
    private nonisolated let executor: any SerialExecutor

    init(_ executor: any SerialExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(_ work: @Sendable () -> Void) { work() }
}
