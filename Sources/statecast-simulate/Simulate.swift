import ArgumentParser
import Foundation
import StatecastCommandLine
import StatecastProtocol
import StatecastSimulation

@main
struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-simulate",
        abstract: "Runs whole clusters under a virtual clock, with faults, and checks what must hold.",
        discussion: """
            Each seed is a cluster of its own: a primary with one or two stores, replicas, senders, their journals and \
            session files, and a network that behaves as libzmq does. If a rule is broken, the run is repeated with \
            fewer faults, as long as it breaks the same rule, and its trace is printed.
            """
    )

    @Option(help: "The number of seeds. (default: 1 with --seed, otherwise 100)")
    var seeds: UInt64?

    @Option(help: "The first seed. (default: a random one)")
    var seed: UInt64?

    @Option(help: "Runs for these minutes, instead of a number of seeds.")
    var minutes: Double?

    @Option(
        help: ArgumentHelp(
            "The limits of the clusters: standard ones, tiny ones that are often reached, or mixed, by the seed.",
            valueName: "standard|tiny|mixed"
        )
    )
    var limits = SimulationOptions().sizes

    @Option(
        help: ArgumentHelp(
            "The nodes of a primary: one with its own journals, several that share a database, or mixed, by the seed.",
            valueName: "one|several|mixed"
        )
    )
    var nodes = SimulationOptions().nodes

    @Option(help: "The number of events of a seed after which no more faults are injected.")
    var events = SimulationOptions().minEvents

    @Option(help: "The number of seeds that run in parallel.")
    var jobs = ProcessInfo.processInfo.activeProcessorCount

    @Option(help: "The number of runs that look for fewer faults, after a failure.")
    var tries = 60

    @Option(help: ArgumentHelp("Faults of the seed that do not happen, by number.", valueName: "numbers"))
    var skip: String?

    @Flag(help: "Prints everything that happens with a seed.")
    var trace = false

    func validate() throws {
        guard seeds != 0, jobs > 0, events > 0 else { throw ValidationError("seeds, jobs and events are at least 1") }
        guard minutes.map({ $0 > 0 && $0 < .infinity }) ?? true else {
            throw ValidationError("--minutes is a number above 0")
        }
        guard minutes == nil || seeds == nil else { throw ValidationError("give --seeds or --minutes, not both") }
        guard !trace || seed != nil && seeds == nil && minutes == nil else {
            throw ValidationError("--trace prints one seed: give --seed, without --seeds and --minutes")
        }
        guard seed.map({ $0 <= .max - count }) ?? true else {
            throw ValidationError("the last seed is at most \(UInt64.max - 1)")
        }
        guard skippedFaults != nil else { throw ValidationError("expected --skip 1,2,…, got \(skip ?? "")") }
    }

    private var skippedFaults: Set<Int>? {
        let numbers = (skip ?? "").split(separator: ",").map { Int($0) }
        return numbers.contains(nil) ? nil : Set(numbers.compactMap(\.self))
    }

    private var options: SimulationOptions {
        var options = SimulationOptions()
        options.minEvents = events
        (options.sizes, options.nodes) = (limits, nodes)
        options.skippedFaults = skippedFaults ?? []
        return options
    }

    func run() async throws {
        TrapReport.install(command: command(options))
        let first = seed ?? UInt64.random(in: 1...(1 << 40))
        if trace { return try show(first) }
        let count = count
        let campaign = Campaign(seeds: first...(first + count - 1), options, threads: Int(min(UInt64(jobs), count)))
        let start = ContinuousClock.now
        let watching = Task { await watch(campaign, of: count, since: start) }
        let totals = try await campaign.result()
        watching.cancel()
        await watching.value
        print(text(of: totals, from: first, after: start.duration(to: .now)))
        if let failure = totals.failure { throw report(failure) }
        if totals.seeds == 0 { throw CommandFailure.failed("no seed ended in that time") }
    }

    /// The number of seeds, at most.
    private var count: UInt64 { minutes == nil ? seeds ?? (seed == nil ? 100 : 1) : 1 << 32 }

    /// Runs one seed, and prints what happens as it happens.
    private func show(_ seed: UInt64) throws {
        var options = options
        options.onNote = { FileHandle.standardOutput.write(Data("\($0)\n".utf8)) }
        let report = SimulationRun(seed: seed, options).run()
        if let violation = report.violation { throw CommandFailure.failed("seed \(seed): \(violation)") }
    }

    // MARK: Progress

    /// Shows the progress on a terminal, and ends the campaign in time.
    private func watch(_ campaign: Campaign, of count: UInt64, since start: ContinuousClock.Instant) async {
        let isShown = Terminal.isTerminal(.error)
        while !Task.isCancelled {
            let elapsed = start.duration(to: .now) / .seconds(1)
            if let minutes, elapsed >= minutes * 60 { campaign.stop() }
            if isShown {
                let totals = campaign.totals
                let part = minutes.map { min(1, elapsed / ($0 * 60)) } ?? Double(totals.seeds) / Double(count)
                let bar = String(repeating: "#", count: Int(part * 30)).padding(
                    toLength: 30,
                    withPad: ".",
                    startingAt: 0
                )
                let rate = Double(totals.seeds) / max(elapsed, 0.001)
                let text = String(
                    format: "\r[%@] %5.1f %%  %d seeds, %.1f per second ",
                    bar,
                    part * 100,
                    totals.seeds,
                    rate
                )
                FileHandle.standardError.write(Data(text.utf8))
            }
            try? await Task.sleep(for: .milliseconds(200))
        }
        if isShown { FileHandle.standardError.write(Data("\r\u{1B}[K".utf8)) }
    }

    private func text(of totals: Campaign.Totals, from first: UInt64, after duration: Duration) -> String {
        let seconds = max(duration / .seconds(1), 0.001)
        let hours = totals.time / .seconds(3600)
        var lines = [
            String(
                format:
                    "%d seeds from %llu on in %.1f s: %.1f per second; %d events, %.0f per second; "
                    + "%.1f hours simulated, %.2f per second",
                totals.seeds,
                first,
                seconds,
                Double(totals.seeds) / seconds,
                totals.events,
                Double(totals.events) / seconds,
                hours,
                hours / seconds
            )
        ]
        let faults = Fault.allCases.map { "\($0) \(totals.faults[$0] ?? 0)" }
        lines.append("faults with an effect: \(faults.joined(separator: ", "))")
        if totals.seeds > 0 {
            lines.append("kinds of faults with an effect in each seed: \(totals.minFaultKinds) or more")
        }
        let all = Coverage.all.count
        let seen = all - totals.coverage.missing.count
        lines.append(
            String(format: "coverage: %d of %d events in phases, %.1f %%", seen, all, Double(seen) / Double(all) * 100)
        )
        if !totals.coverage.missing.isEmpty {
            lines.append("not seen: \(totals.coverage.missing.map(\.description).joined(separator: "; "))")
        }
        return lines.joined(separator: "\n")
    }

    // MARK: Failures

    /// Prints a short trace that leads to the violation, and the command that repeats it.
    private func report(_ failure: SimulationReport) -> CommandFailure {
        let (options, report) = failure.minimized(options, maxRuns: tries)
        for line in report.trace.suffix(60) { print(line.prefix(300)) }
        let violation = (report.violation ?? failure.violation).map { "\($0)" } ?? ""
        return .failed("seed \(failure.seed): \(violation)\nrepeat with: \(command(options))\(failure.seed)")
    }

    /// The command that repeats a run, without the number of the seed, which is its last argument.
    private func command(_ options: SimulationOptions) -> String {
        var command = "statecast-simulate --events \(options.minEvents)"
        if limits != .mixed { command += " --limits \(limits.rawValue)" }
        if nodes != .mixed { command += " --nodes \(nodes.rawValue)" }
        let skipped = options.skippedFaults.sorted()
        if !skipped.isEmpty { command += " --skip \(skipped.map(String.init).joined(separator: ","))" }
        return command + " --trace --seed "
    }
}

extension SimulationOptions.SizeChoice: ExpressibleByArgument {}
extension SimulationOptions.NodeChoice: ExpressibleByArgument {}
