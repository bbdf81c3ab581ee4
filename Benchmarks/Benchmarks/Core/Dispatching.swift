import Comparing
import Measuring
import StateCore

/// From `dispatch` to the last observer.
func dispatching() {
    compare(
        "1 observer, 1 thread",
        [
            Subject("classic") { dispatching(200_000, to: ClassicStore<Counter>.self, observers: 1) },
            Subject("core") { dispatching(200_000, to: Core<Counter>.self, observers: 1) },
        ]
    )
    compare(
        "100 observers, 1 thread",
        [
            Subject("classic") { dispatching(20_000, to: ClassicStore<Counter>.self, observers: 100) },
            Subject("core") { dispatching(20_000, to: Core<Counter>.self, observers: 100) },
        ]
    )
    compare(
        "1 observer, 4 threads",
        [
            Subject("classic") {
                dispatching(200_000, to: ClassicStore<Counter>.self, observers: 1, from: .threads, 4)
            },
            Subject("core") { dispatching(200_000, to: Core<Counter>.self, observers: 1, from: .threads, 4) },
        ]
    )
    for tasks in [2, 4, 8] {
        compare(
            "1 observer, \(tasks) tasks",
            [
                Subject("classic") {
                    dispatching(160_000, to: ClassicStore<Counter>.self, observers: 1, from: .tasks, tasks)
                },
                Subject("core") { dispatching(160_000, to: Core<Counter>.self, observers: 1, from: .tasks, tasks) },
            ]
        )
    }
}

/// The cost of an action from its dispatch until the last observer was told.
private func dispatching<Store: CountingStore>(
    _ actions: Int,
    to _: Store.Type,
    observers: Int,
    from kind: Crew.Kind = .threads,
    _ count: Int = 1
) -> Cost {
    let store = Store()
    let tallies = (0..<observers).map { _ in Tally(goal: actions) }
    tallies.forEach(store.show)
    // Observers are told in the order of their registration: when the last has seen the last, all have.
    guard let last = tallies.last else { preconditionFailure("nobody would tell when it is over") }
    guard count > 1 else {
        return .each(of: actions) {
            dispatch(actions, to: store)
            last.waitUntilReached()
        }
    }
    let crew = Crew(of: count, kind) { dispatch(actions / count, to: store) }
    return .each(of: actions) {
        crew.run()
        last.waitUntilReached()
    }
}

func dispatch(_ actions: Int, to store: some CountingStore) {
    for _ in 0..<actions {
        store.dispatch(CounterIncreaseRequested())
    }
}
