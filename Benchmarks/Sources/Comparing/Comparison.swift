import Benchmark
package import Measuring

/// One way of doing what is compared.
package struct Subject {
    let name: String
    let measure: () -> Cost

    /// - Parameters:
    ///   - name: what it is called in the table.
    ///   - measure: sets up anew and measures once.
    package init(_ name: String, measure: @escaping () -> Cost) {
        self.name = name
        self.measure = measure
    }
}

/// Registers a benchmark that measures its subjects by turns, each once per iteration; the first is the reference.
///
/// The framework would run one subject after the other; by turns, whatever disturbs the machine meanwhile
/// disturbs all of them. So what is measured of each subject are metrics, named `comparison/subject/metric`:
/// nanoseconds by two clocks, and how many times as fast, and as expensive, as the first subject it was in the same
/// round, in hundredths.
///
/// - Parameters:
///   - name: what the framework's filter looks at.
///   - duration: how long the rounds go on.
///   - clock: what the subjects are compared by. On a busy machine the processor's is the steadier one; it says all where
///     nothing waits, and nothing runs beside the caller.
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
        // Plain nanoseconds, where the framework would pick a unit, and round to it.
        units: Dictionary(uniqueKeysWithValues: all.map { ($0, .count) }),
        warmupIterations: 2,
        maxDuration: duration,
        maxIterations: 200
    )
    Benchmark(name, configuration: configuration) { benchmark in
        var costs: [Int: Cost] = [:]
        for turn in subjects.indices {
            // Another one goes first each time: nobody always comes after the same neighbour.
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
