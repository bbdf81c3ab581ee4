import Benchmark

/// The framework runs each benchmark in a process of its own.
let benchmarks: @Sendable () -> Void = {
    dispatching()
    scopes()
    props()
    roundTrip()
    largeState()
    memory()
}
