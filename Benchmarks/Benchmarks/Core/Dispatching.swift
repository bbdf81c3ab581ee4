import Benchmark
import Comparing
import Measuring
import StatecastCore

/// From `dispatch` to the last observer.
func dispatching() {
    for observers in [1, 10] {
        for (kind, unit) in [(Crew.Kind.threads, "thread"), (.tasks, "task")] {
            for count in [1, 2, 4, 8] {
                let name = "\(observers) observer\(observers == 1 ? "" : "s"), \(count) \(unit)\(count == 1 ? "" : "s")"
                let actions = 160_000
                compare(
                    name,
                    [
                        Subject("classic") {
                            dispatching(
                                actions,
                                to: ClassicStore<Counter>.self,
                                observers: observers,
                                from: kind,
                                count
                            )
                        },
                        Subject("core") {
                            dispatching(actions, to: Core<Counter>.self, observers: observers, from: kind, count)
                        },
                    ]
                )
            }
        }
    }
    compare(
        "1 observer, 1 thread, reducer with a case for each type",
        [
            Subject("classic") {
                dispatching(160_000, to: ClassicStore(Counter(), reduce: Counter.reduceByCase), observers: 1)
            },
            Subject("core") {
                dispatching(160_000, to: Core(Counter(), reducer: Reducer(Counter.reduceByCase)), observers: 1)
            },
        ]
    )
    compare(
        "100 observers, 1 thread",
        [
            Subject("classic") { dispatching(20_000, to: ClassicStore<Counter>.self, observers: 100) },
            Subject("core") { dispatching(20_000, to: Core<Counter>.self, observers: 100) },
        ]
    )
}

/// The cost of an action from its dispatch until the last observer has received it.
private func dispatching<Store: CountingStore>(
    _ actions: Int,
    to _: Store.Type,
    observers: Int,
    from kind: Crew.Kind = .threads,
    _ count: Int = 1
) -> Cost {
    dispatching(actions, to: Store(), observers: observers, from: kind, count)
}

private func dispatching(
    _ actions: Int,
    to store: some CountingStore,
    observers: Int,
    from kind: Crew.Kind = .threads,
    _ count: Int = 1
) -> Cost {
    let tallies = (0..<observers).map { _ in Tally(goal: actions) }
    tallies.forEach(store.show)
    // Observers are called in the order of their registration: after the last one, all have received the action.
    guard let last = tallies.last else { preconditionFailure("at least one observer is required") }
    guard kind == .tasks || count > 1 else {
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

/// Resident memory after 1 and after 11 million actions: the ten million between should add nothing.
///
/// In bursts, each reduced before the next one starts, growth is a leak. All at once, the queue counts, too, if actions
/// arrive faster than they are reduced: see the peak. An allocator returns little of that.
func memory() {
    for threads in [1, 4] {
        for (way, burst) in [("bursts", 100_000), ("all at once", 10_000_000)] {
            let name = threads == 1 ? "1 thread, \(way)" : "\(threads) threads, \(way)"
            memory("classic, \(name)", of: ClassicStore<Counter>.self, threads: threads, burst: burst)
            memory("core, \(name)", of: Core<Counter>.self, threads: threads, burst: burst)
        }
    }
}

private func memory<Store: CountingStore>(_ name: String, of _: Store.Type, threads: Int, burst: Int) {
    let metrics = ["after 1 million", "after 11 million", "peak"].map {
        BenchmarkMetric.custom("memory, \(name)/\($0)/KiB", useScalingFactor: false)
    }
    let configuration = Benchmark.Configuration(
        metrics: metrics,
        units: Dictionary(uniqueKeysWithValues: metrics.map { ($0, .count) }),
        // Only a fresh process shows growth.
        warmupIterations: 0,
        maxDuration: .seconds(300),
        maxIterations: 1
    )
    Benchmark("memory, \(name)", configuration: configuration) { benchmark in
        let store = Store()
        let tally = Tally(goal: 0)
        store.show(tally)
        var count = 0
        func dispatch(upTo end: Int) {
            while count < end {
                let burst = min(burst, end - count)
                count += burst
                tally.aim(at: count)
                Crew(of: threads, .threads) { CoreBenchmarks.dispatch(burst / threads, to: store) }.run()
                tally.waitUntilReached()
            }
        }
        dispatch(upTo: 1_000_000)
        benchmark.measurement(metrics[0], ResidentMemory.kibibytes)
        dispatch(upTo: 11_000_000)
        benchmark.measurement(metrics[1], ResidentMemory.kibibytes)
        benchmark.measurement(metrics[2], ResidentMemory.peakKibibytes)
    }
}
