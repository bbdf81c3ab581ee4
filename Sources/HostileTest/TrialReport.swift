/// The figures of a phase.
struct PhaseFigures: Sendable {
    /// Confirmed actions per second of all honest senders.
    let throughput: Double
    /// Milliseconds from an action to its receipt.
    let p50: Double
    let p99: Double
    /// Processor seconds of the primary per second.
    let processors: Double
    /// What the attack sent per second while the throughput was measured, and while the latency was.
    let attackInLoad: Double
    let attackInLatency: Double
    /// What the attack received per second.
    let answers: Double
    /// The time until the replica had the last confirmed action.
    let replicaSeconds: Double
    /// In an attack on memory, the longest time of an action before the other figures were measured.
    var longestAction: Duration?
}

/// The result of a scenario.
struct TrialReport: Sendable {
    let scenario: Scenario
    let judgesRatios: Bool
    let maxMemory: Int
    var calm: [PhaseFigures] = []
    var attacked: [PhaseFigures] = []
    /// The primary's peak memory after the first phase without an attack, and at the end.
    var calmBytes = 0
    var peakBytes = 0
    /// Whether the primary came to rest after each attack.
    var isCalmAgain = true
    var actions = 0
    var logLines = 0
    /// Whether the primary closed its connections for lack of memory.
    var hasClosedConnections = false
    var faults: [String] = []

    init(_ scenario: Scenario, _ plan: HostilePlan) {
        self.scenario = scenario
        // In one round, they depend too much on other work of the machine.
        judgesRatios = plan.judgesRatios && scenario.hoard == nil
        maxMemory = plan.maxMemory
    }
}

extension TrialReport {
    private static let widths = [14, 19, 10, 19, 14, 17, 12, 13, 8, 9, 6]

    private static func row(_ cells: [String]) -> String {
        zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: " ")
    }

    /// `>` leads from the figure without the attack to that with it.
    static let heading = row([
        "scenario", "attack/s load|lat.", "answers/s", "honest actions/s", "p50 ms", "p99 ms", "CPU %", "peak MiB",
        "replica", "journaled", "log",
    ])

    private func change(_ figure: (PhaseFigures) -> Double, _ digits: Int = 0) -> String {
        "\(median(calm, figure).text(digits))>\(median(attacked, figure).text(digits))"
    }

    private func median(_ phases: [PhaseFigures], _ figure: (PhaseFigures) -> Double) -> Double {
        phases.map(figure).median
    }

    private var throughputRatio: Double { median(attacked, \.throughput) / median(calm, \.throughput) }

    /// The parts of the bound. The primary looks at its memory once a second, and closing takes time.
    private var terms: [MemoryTerm] {
        guard let hoard = scenario.hoard, scenario.exceeds(maxMemory) else {
            return [MemoryTerm(name: "calm", bytes: calmBytes)] + scenario.memory
        }
        return [
            MemoryTerm(name: "maxMemory", bytes: maxMemory),
            MemoryTerm(name: "2 s of the attack", bytes: 2 * hoard.bytesPerSecond),
        ]
    }

    private var maxBytes: Int { terms.reduce(0) { $0 + $1.bytes } }

    var text: String {
        let rates = [\PhaseFigures.attackInLoad, \.attackInLatency].map { rate in median(attacked) { $0[keyPath: rate] }
        }
        let cells = [
            scenario.name,
            rates.map { $0.text() }.joined(separator: "|"),
            median(attacked, \.answers).text(),
            change(\.throughput) + " x\(throughputRatio.text(2))",
            change(\.p50, 2),
            change(\.p99, 1),
            change { $0.processors * 100 },
            "\(calmBytes >> 20)>\(peakBytes >> 20)",
            (attacked.map(\.replicaSeconds).max() ?? 0).text(2) + " s",
            "\(actions)",
            "\(logLines)",
        ]
        let sum = terms.map { "\($0.name) \($0.bytes >> 20)" }.joined(separator: " + ")
        let closing = hasClosedConnections ? "; the primary closed its connections" : ""
        let longest = attacked.compactMap(\.longestAction).max().map {
            "\n    the longest honest action took \(($0 / .seconds(1)).text(2)) s\(closing)"
        }
        return Self.row(cells) + "\n    bound \(maxBytes >> 20) MiB = \(sum)" + (longest ?? "")
    }

    /// Adds what is wrong with the figures.
    mutating func judge() {
        if peakBytes > maxBytes {
            faults.append("the primary had \(peakBytes >> 20) MiB, the bound is \(maxBytes >> 20)")
        }
        if scenario.exceeds(maxMemory), !hasClosedConnections {
            faults.append("the primary did not close its connections")
        }
        if !isCalmAgain { faults.append("the primary was busy half a minute after an attack") }
        guard judgesRatios else { return }
        if throughputRatio < 0.5 {
            faults.append("the honest throughput fell to \((throughputRatio * 100).text()) %")
        }
    }
}

extension [TrialReport] {
    /// The median 99th percentile of all rounds without an attack, in milliseconds.
    ///
    /// They differ more among themselves than most attacks change them: those of one scenario are too few to compare
    /// with.
    private var calmP99: Double { flatMap { $0.calm.map(\.p99) }.median }

    /// What is wrong with the latencies.
    var latencyFaults: [String] {
        filter(\.judgesRatios).compactMap { report in
            let p99 = report.attacked.map(\.p99).median
            guard p99 > 2 * calmP99 else { return nil }
            return "\(report.scenario.name): the honest 99th percentile grew to \(p99.text(1)) ms"
        }
    }

    var summary: String {
        "99th percentile without an attack: \(calmP99.text(1)) ms in \(flatMap(\.calm).count) rounds"
    }
}

extension [Double] {
    fileprivate var median: Double { sorted()[count / 2] }
}

extension Double {
    fileprivate func text(_ digits: Int = 0) -> String {
        let scale = (0..<digits).reduce(1.0) { scale, _ in scale * 10 }
        let rounded = (self * scale).rounded() / scale
        return digits == 0 ? "\(Int(rounded))" : "\(rounded)"
    }
}
