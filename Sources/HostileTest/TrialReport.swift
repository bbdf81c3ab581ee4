import StatecastProtocol

/// The result of a scenario.
struct TrialReport: Sendable {
    private let scenario: Scenario
    private let maxMemory: Int
    /// What the attack has done.
    var attack = AttackCounts()
    /// The primary's peak memory before the attack, and at the end.
    var calmBytes = 0
    var peakBytes = 0
    /// The longest time of an honest action during the attack.
    private var longestAction = Duration.zero
    var actions = 0
    var logLines = 0
    /// Whether the primary closed its connections for lack of memory.
    var hasClosedConnections = false
    var faults: [String] = []

    init(_ scenario: Scenario, maxMemory: Int) { (self.scenario, self.maxMemory) = (scenario, maxMemory) }

    /// Honest actions took up to this time.
    mutating func note(_ longest: Duration) { longestAction = max(longestAction, longest) }
}

extension TrialReport {
    private static let widths = [14, 13, 13, 13, 11, 9, 6]

    private static func row(_ cells: [String]) -> String {
        zip(cells, widths).map { $0.padded(to: $1) }.joined(separator: " ")
    }

    /// `>` leads from the figure without the attack to that with it.
    static let heading = row([
        "scenario", "attacks", "answers", "peak MiB", "longest ms", "journaled", "log",
    ])

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
        let cells = [
            scenario.name, "\(attack.sent)", "\(attack.answered)", "\(calmBytes >> 20)>\(peakBytes >> 20)",
            "\(longestAction.milliseconds)", "\(actions)", "\(logLines)",
        ]
        let sum = terms.map { "\($0.name) \($0.bytes >> 20)" }.joined(separator: " + ")
        let closing = hasClosedConnections ? "; the primary closed its connections" : ""
        return Self.row(cells) + "\n    bound \(maxBytes >> 20) MiB = \(sum)\(closing)"
    }

    /// Adds what is wrong with the figures.
    mutating func judge() {
        if peakBytes > maxBytes {
            faults.append("the primary had \(peakBytes >> 20) MiB, the bound is \(maxBytes >> 20)")
        }
        if scenario.exceeds(maxMemory), !hasClosedConnections {
            faults.append("the primary did not close its connections")
        }
    }
}
