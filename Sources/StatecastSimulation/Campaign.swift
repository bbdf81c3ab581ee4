import StatecastThreading

/// Runs of many seeds, in several threads.
package final class Campaign: Sendable {
    /// What all finished runs have in common.
    package struct Totals: Sendable {
        package private(set) var seeds = 0
        package private(set) var events = 0
        /// The virtual time.
        package private(set) var time = Duration.zero
        package private(set) var faults: [Fault: Int] = [:]
        package private(set) var coverage = Coverage()
        /// The smallest number of kinds of faults that had an effect in a run without a broken rule.
        package private(set) var minFaultKinds = Int.max
        /// The first run that broke a rule.
        package private(set) var failure: SimulationReport?

        mutating func add(_ report: SimulationReport) {
            seeds += 1
            events += report.events
            time += report.time
            faults.merge(report.faults, uniquingKeysWith: +)
            coverage.add(report.coverage)
            if report.violation == nil {
                minFaultKinds = min(minFaultKinds, report.faults.count)
            } else {
                failure = failure ?? report
            }
        }
    }

    private struct Progress {
        var totals = Totals()
        var next: UInt64
        var threadsLeft: Int
        var isStopped = false
    }

    private let options: SimulationOptions
    private let last: UInt64
    private let progress: Monitor<Progress>

    /// - Parameters:
    ///   - seeds: what is run, in this order.
    ///   - threads: how many runs go on at a time.
    package init(seeds: ClosedRange<UInt64>, _ options: SimulationOptions, threads: Int) {
        (self.options, last) = (options, seeds.upperBound)
        progress = Monitor(Progress(next: seeds.lowerBound, threadsLeft: threads))
        for index in 0..<threads {
            do {
                try Threads.start(name: "simulation-\(index)", stackBytes: 16 << 20) { [self] in work() }
            } catch { preconditionFailure("the system starts no thread: \(error)") }
        }
    }

    /// What is done so far.
    package var totals: Totals { progress.change { $0.totals } }

    /// Ends the runs after those that have begun.
    package func stop() { progress.change { $0.isStopped = true } }

    /// Waits for the end of all runs.
    package func result() async throws -> Totals {
        try await progress.wait { $0.threadsLeft == 0 ? $0.totals : nil }
    }

    private func work() {
        while let seed = nextSeed() {
            let report = SimulationRun(seed: seed, options).run()
            progress.change { progress in
                progress.totals.add(report)
                // One failure is enough to look at.
                if report.violation != nil { progress.isStopped = true }
            }
        }
        progress.change { $0.threadsLeft -= 1 }
    }

    private func nextSeed() -> UInt64? {
        progress.change { progress in
            guard !progress.isStopped, progress.next <= last else { return nil }
            defer { progress.next += 1 }
            return progress.next
        }
    }
}
