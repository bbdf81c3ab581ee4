import Benchmark
import Measuring
import StateCore

/// What stays in memory after 1 and after 11 million actions: the ten million between should add nothing.
///
/// In bursts, each reduced before the next one starts, what grows is kept for ever. All at once, what waits to be reduced
/// counts too, where actions come faster than they are reduced: see the peak. An allocator gives little of that back.
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
