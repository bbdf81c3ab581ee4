import StatecastCore

/// The state of the stress test: the work of its threads.
struct Ledger: Equatable, Sendable {
    /// The newest number of each thread.
    var newest: [Int]
    /// The newest work that each thread's restarts started.
    var restarted: [Int]
    /// The work that sent the last tick.
    var ticked: [Int]
    var echoes = 0
    var ticks = 0
    /// Written through a scope.
    var written = 0
    /// Violations.
    var faults: [String] = []

    init(threads: Int) {
        newest = Array(repeating: 0, count: threads)
        restarted = newest
        ticked = newest
    }

    struct Numbered: Action {
        var thread: Int
        var number: Int
    }

    /// Sent by work that is not cancelled.
    struct Echo: Action {}

    /// Sent by work that the thread's next restart cancels.
    struct Tick: Action {
        var thread: Int
        var number: Int
    }

    /// Marks the end of all actions dispatched before.
    struct Fence: Action {}

    static let restartEvery = 5
    static let echoEvery = 10
    static let blockingEvery = 100

    /// The number of units of work that one thread's actions start.
    static func workCount(_ each: Int) -> Int { each / restartEvery + each / echoEvery + each / blockingEvery }

    static func echoCount(_ each: Int) -> Int { each / echoEvery + each / blockingEvery }

    /// - Parameter ended: called when a unit of work ends.
    static func reducer(ended: @escaping @Sendable () -> Void) -> Reducer<Ledger> {
        Reducer { ledger, action -> Effect in
            switch action {
            case let action as Numbered: return ledger.reduce(action, ended: ended)
            case let action as Tick: ledger.reduce(action)
            case is Echo: ledger.echoes += 1
            default: break
            }
            return .none
        }
    }

    private mutating func reduce(_ action: Numbered, ended: @escaping @Sendable () -> Void) -> Effect {
        let (thread, number) = (action.thread, action.number)
        if newest[thread] != number - 1 { faults.append("\(thread): \(number) after \(newest[thread])") }
        newest[thread] = number
        var restart = Effect.none
        if number.isMultiple(of: Self.restartEvery) {
            restarted[thread] = number
            restart = .merge(
                .cancel(id: thread),
                .run(id: thread) { send in
                    await send(Tick(thread: thread, number: number))
                    ended()
                }
            )
        }
        let echo: Effect =
            number.isMultiple(of: Self.echoEvery)
            ? .run { send in
                await Task.yield()
                await send(Echo())
                ended()
            } : .none
        let blocking: Effect =
            number.isMultiple(of: Self.blockingEvery)
            ? .blocking { send in
                send(Echo())
                ended()
            } : .none
        return .merge(restart, echo, blocking)
    }

    private mutating func reduce(_ action: Tick) {
        let (thread, number) = (action.thread, action.number)
        if restarted[thread] != number { faults.append("\(thread): \(number) ticks after its cancellation") }
        if ticked[thread] >= number { faults.append("\(thread): \(number) ticks after \(ticked[thread])") }
        ticked[thread] = number
        ticks += 1
    }
}
