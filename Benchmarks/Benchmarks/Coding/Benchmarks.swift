import Benchmark
import CodingSubjects
import StatecastCoding

/// The framework runs each benchmark in a process of its own.
let benchmarks: @Sendable () -> Void = {
    values()
    snapshots()
    incremental()
}

/// Single values: actions and a record.
private func values() {
    compareCoders("action", count: 1_000) { StepChangeRequested(step: 7) }
    compareCoders("enum action", count: 1_000) { FleetAction.loadChanged(load: 4_711) }
    compareCoders("record", count: 200) { Vehicle(number: 4_712) }
}

/// A whole large state.
private func snapshots() {
    compareCoders("snapshot, array", count: 1, duration: .seconds(8)) { [Vehicle](count: snapshotRows) }
    // Foundation has no table: the reference is its JSON of a dictionary.
    compareCoders(
        "snapshot, table",
        count: 1,
        duration: .seconds(8),
        json: { [String: Vehicle](count: snapshotRows) },
        { Table<String, Vehicle>(count: snapshotRows) }
    )
}

/// A value that is created on first use, so that a benchmark's process creates only the values that it needs. Not
/// thread-safe.
final class Lazy<Value> {
    private let make: () -> Value
    private(set) lazy var value = make()

    init(_ make: @escaping () -> Value) {
        self.make = make
    }
}

/// Traps on an error, which only a mistake in the benchmark can cause.
@inline(__always)
func succeed<Value>(_ body: () throws -> Value) -> Value {
    do { return try body() } catch { fatalError("a benchmark's subject failed: \(error)") }
}
