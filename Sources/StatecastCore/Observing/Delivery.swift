public import Dispatch

/// The execution context of an observer's callback.
///
/// In every context, also on a concurrent queue, changes arrive one at a time and in order.
public struct Delivery: Sendable {
    /// A context other than the one where the change is made.
    struct Context: Sendable {
        /// Whether the caller already runs in the context, so that a callback may be called directly.
        var isCurrent: @Sendable () -> Bool = { false }
        /// Schedules work in the context.
        let schedule: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
    }

    /// Nil if the callback runs where the change is made.
    private let context: Context?

    private init(_ context: Context?) { self.context = context }

    /// Runs the callback where the change is made, before the core processes anything else. The callback should be
    /// short.
    public static let inline = Delivery(nil)

    /// Runs the callback on the main actor, where it may use `MainActor.assumeIsolated`. It need not if the observation
    /// uses `MainActor.shared` instead.
    ///
    /// If the change is made on the main actor and no earlier change is queued, the callback runs at once: on an idle
    /// core, a view that dispatches has its new state when `dispatch` returns. The callback should therefore be short,
    /// and its own dispatches are applied after it returns. The first call may precede the return of `observe`.
    public static let mainActor = Delivery(.mainActor)

    /// Runs the callback on an actor's executor, where it may use `assumeIsolated` of each actor of that executor.
    public static func executor(_ executor: any SerialExecutor) -> Delivery {
        let actor = ExecutorActor(executor)
        return Delivery(
            Context { work in
                Task.detached { await actor.run(work) }
            }
        )
    }

    /// Runs the callback on a task executor, such as a custom thread pool.
    public static func taskExecutor(_ executor: any TaskExecutor) -> Delivery {
        Delivery(
            Context { work in
                Task.detached(executorPreference: executor) { work() }
            }
        )
    }

    /// Runs the callback on a dispatch queue, serial or concurrent.
    public static func queue(_ queue: DispatchQueue) -> Delivery {
        Delivery(Context { work in queue.async(execute: work) })
    }

    /// Subscribes `body` so that it runs in this context for one event at a time, in order, and never after the
    /// subscription is cancelled.
    func subscribe<Event: Sendable>(
        _ body: @escaping @Sendable (Event) -> Void,
        to subscribe: (_ body: @escaping @Sendable (Event) -> Void) -> Subscription
    ) -> Subscription {
        guard let context else { return subscribe(body) }
        let mailbox = Mailbox(in: context, handler: body)
        let subscription = subscribe { event in
            if mailbox.enqueue(event) { mailbox.startReader() }
        }
        return Subscription(wrapping: subscription) { [weak mailbox] in mailbox?.close() }
    }
}

extension Delivery.Context {
    static let mainActor = Delivery.Context(isCurrent: { isOnMainQueue }) { work in
        Task.detached { @MainActor in work() }
    }
}

/// Whether the caller runs on the main dispatch queue, and thereby on the main actor. Code that runs on the main actor
/// in other ways is not recognized: the functions that check the isolation trap.
private var isOnMainQueue: Bool { DispatchQueue.getSpecific(key: mainQueueKey) != nil }

private let mainQueueKey = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
}()

/// Runs closures on a serial executor, which only accepts the jobs of actors.
actor ExecutorActor {
    private nonisolated let executor: any SerialExecutor

    init(_ executor: any SerialExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(_ work: @Sendable () -> Void) { work() }

    func run(_ work: nonisolated(nonsending) @Sendable () async -> Void) async { await work() }
}
