import Benchmark

/// What the framework runs: each benchmark in a process of its own.
let benchmarks: @Sendable () -> Void = {
    values()
    snapshots()
    incremental()
}
