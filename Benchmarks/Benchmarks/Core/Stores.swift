import Dispatch
import StatecastCore

/// The reference: a serial queue, one `async` per action, a closure call per observer. The state is changed in place,
/// without an old copy, which is the fastest form of this design.
final class ClassicStore<State: Sendable>: Sendable {
    typealias Reduce = @Sendable (inout State, any Action) -> Void
    typealias Observer = @Sendable (State) -> Void

    private let queue = DispatchQueue(label: "classic store")
    private let reduce: Reduce
    // Both are accessed on the queue alone.
    nonisolated(unsafe) private var state: State
    nonisolated(unsafe) private var observers: [Observer] = []

    init(_ state: State, reduce: @escaping Reduce) {
        self.state = state
        self.reduce = reduce
    }

    func dispatch(_ action: any Action) {
        queue.async { [self] in
            reduce(&state, action)
            for observer in observers {
                observer(state)
            }
        }
    }

    func observe(_ observer: @escaping Observer) {
        queue.async { [self] in observers.append(observer) }
    }

    /// Waits until the queue has run all earlier blocks.
    func drain() {
        queue.sync {}
    }
}

/// A store of either design.
protocol CountingStore: Sendable {
    init()
    func dispatch(_ action: any Action)
    /// Shows the tally each count.
    func show(_ tally: Tally)
}

extension ClassicStore: CountingStore where State == Counter {
    convenience init() {
        self.init(Counter(), reduce: Counter.reduce)
    }

    func show(_ tally: Tally) {
        observe { tally.show($0.count) }
    }
}

extension Core: CountingStore where State == Counter {
    convenience init() {
        self.init(Counter(), reducer: Counter.reducer)
    }

    func show(_ tally: Tally) {
        observe(replay: .none) { tally.show($0.new.count) }.detach()
    }
}

/// A minimal state with the cheapest reducer, so that the store dominates the measurement.
struct Counter: Equatable, Sendable {
    var count = 0

    static let reducer = Reducer<Counter>(of: CounterIncreaseRequested.self) { counter, _ in counter.count += 1 }

    /// The same reducer as a function, for the classic store.
    static let reduce: @Sendable (inout Counter, any Action) -> Void = { counter, action in
        _ = reducer.reduce(into: &counter, action, context: ActionContext(time: .epoch))
    }

    /// The usual reducer, whose check of the type takes longer than the core.
    static let reduceByCase: @Sendable (inout Counter, any Action) -> Void = { counter, action in
        switch action {
        case is CounterIncreaseRequested: counter.count += 1
        default: break
        }
    }
}

struct CounterIncreaseRequested: Action {}
