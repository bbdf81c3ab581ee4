import Benchmark
package import Measuring

/// One side of a comparison.
package struct Subject {
    let name: String
    let measure: () -> Cost

    /// - Parameters:
    ///   - name: its name in the table.
    ///   - measure: sets up and measures once.
    package init(_ name: String, measure: @escaping () -> Cost) {
        self.name = name
        self.measure = measure
    }
}

/// Registers a benchmark that measures its subjects by turns, each once per iteration; the first is the reference.
///
/// The framework would run one subject after the other; by turns, a disturbance of the host affects all of them. The
/// metrics of each subject are named `comparison/subject/metric`: nanoseconds by two clocks, and speed and expense
/// relative to the first subject of the same round, in hundredths.
///
/// - Parameters:
///   - name: the name that the framework's filter matches.
///   - duration: the time for all rounds.
///   - clock: the clock of the comparison. The processor's is steadier on a busy host, and sufficient if the subjects
///     neither wait nor run work beside the caller.
package func compare(
    _ name: String,
    duration: Duration = .seconds(3),
    by clock: any KeyPath<Cost, Double> & Sendable = \.wall,
    _ subjects: [Subject]
) {
    let metrics = subjects.map { subject in
        (
            wall: BenchmarkMetric.custom("\(name)/\(subject.name)/wall", useScalingFactor: false),
            processor: BenchmarkMetric.custom("\(name)/\(subject.name)/processor", useScalingFactor: false),
            speed: BenchmarkMetric.custom(
                "\(name)/\(subject.name)/speed",
                polarity: .prefersLarger,
                useScalingFactor: false
            ),
            expense: BenchmarkMetric.custom("\(name)/\(subject.name)/expense", useScalingFactor: false)
        )
    }
    let all = metrics.flatMap { [$0.wall, $0.processor, $0.speed, $0.expense] }
    let configuration = Benchmark.Configuration(
        metrics: all,
        // Nanoseconds: the framework would otherwise choose a unit and round to it.
        units: Dictionary(uniqueKeysWithValues: all.map { ($0, .count) }),
        warmupIterations: 2,
        maxDuration: duration,
        maxIterations: 200
    )
    Benchmark(name, configuration: configuration) { benchmark in
        var costs: [Int: Cost] = [:]
        for turn in subjects.indices {
            // Rotates the order, so that no subject always follows the same one.
            let index = (turn + benchmark.currentIteration) % subjects.count
            costs[index] = subjects[index].measure()
        }
        guard let reference = costs[0] else { return }
        for (index, cost) in costs {
            benchmark.measurement(metrics[index].wall, Int(cost.wall.rounded()))
            benchmark.measurement(metrics[index].processor, Int(cost.processor.rounded()))
            let expense = cost[keyPath: clock] / reference[keyPath: clock]
            benchmark.measurement(metrics[index].speed, Int((100 / expense).rounded()))
            benchmark.measurement(metrics[index].expense, Int((100 * expense).rounded()))
        }
    }
}
