public import Dispatch

/// Where an observer's callback runs.
///
/// Wherever that is, changes arrive one at a time and in order, also on a queue that is concurrent.
public struct Delivery: Sendable {
    /// A place other than the one where the change is made.
    struct Place: Sendable {
        /// Whether the caller runs there already, so that a callback may be called directly.
        var isHere: @Sendable () -> Bool = { false }
        /// Runs work there, later.
        let run: @Sendable (_ work: @escaping @Sendable () -> Void) -> Void
    }

    /// Nil if the callback is called where the change is made.
    let place: Place?

    private init(_ place: Place?) { self.place = place }

    private init(run: @escaping @Sendable (_ work: @escaping @Sendable () -> Void) -> Void) {
        place = Place(run: run)
    }

    /// Where the change is made, before anything else happens to the state. The callback should be quick.
    public static let inline = Delivery(nil)

    /// On the main actor: the callback may use `MainActor.assumeIsolated`, and need not if it is observed on
    /// `MainActor.shared` instead.
    ///
    /// If the turn is taken on the main actor and no earlier change is queued, the callback runs within the turn: on an idle
    /// core a view that dispatches has its new state when `dispatch` returns. The callback should then be quick, and what it
    /// dispatches is applied after it returns. The first call may come before `observe` returns.
    public static let mainActor = Delivery(.mainActor)

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

extension Delivery.Place {
    static let mainActor = Delivery.Place(isHere: { isOnMainActor }) { work in
        Task.detached { @MainActor in work() }
    }
}

/// Whether the caller runs on the main dispatch queue, and so on the main actor. Other ways to run on the main actor are not
/// recognized, because asking for them traps.
var isOnMainActor: Bool { DispatchQueue.getSpecific(key: mainQueueKey) != nil }

private let mainQueueKey = {
    let key = DispatchSpecificKey<Void>()
    DispatchQueue.main.setSpecific(key: key, value: ())
    return key
}()

/// An actor for nothing but to be on a given executor: plain work can only be put on one as an actor's.
private actor Lane {
    private nonisolated let executor: any SerialExecutor

    init(_ executor: any SerialExecutor) { self.executor = executor }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func run(_ work: @Sendable () -> Void) { work() }
}

extension Delivery {
    /// Subscribes `body` so that it is called here: for one event at a time, in order, and never after the
    /// subscription is cancelled.
    func subscribe<Event: Sendable>(
        _ body: @escaping @Sendable (Event) -> Void,
        to subscribe: (_ body: @escaping @Sendable (Event) -> Void) -> Subscription
    ) -> Subscription {
        guard let place else { return subscribe(body) }
        let mailbox = Mailbox(at: place, handler: body)
        let subscription = subscribe { mailbox.post($0) }
        return Subscription(over: subscription) { [weak mailbox] in mailbox?.close() }
    }
}
