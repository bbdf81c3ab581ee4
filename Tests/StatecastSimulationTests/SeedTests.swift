import Testing

@testable import StatecastSimulation

@Suite(.timeLimit(.minutes(10))) struct `A randomized run of a cluster` {
    /// A failure that ends the process prints the seed.
    private static let reportsTraps: Void = TrapReport.install(
        command: "statecast-simulate --events \(minEvents) --trace --seed "
    )

    init() { Self.reportsTraps }

    /// Seeds that have always been run, so that a test that begins to fail shows the change that broke it.
    @Test(arguments: 1...fixedCount)
    func `A randomized run of a cluster breaks no rule, with fixed seeds`(seed: UInt64) { check(seed) }

    /// Seeds that were never run. A failure shows the seed, with which `statecast-simulate --seed` repeats the run.
    @Test(arguments: freshSeeds)
    func `A randomized run of a cluster breaks no rule, with fresh seeds`(seed: UInt64) { check(seed) }

    @Test func `A randomized run of a cluster is the same each time`() {
        var options = SimulationOptions()
        options.keepsTrace = true
        options.minEvents = 3000
        let runs = (0..<2).map { _ in SimulationRun(seed: 7, options).run() }
        #expect(runs[0].trace == runs[1].trace)
        #expect(runs[0].trace.count > 100)
        #expect(runs[0].events == runs[1].events)
    }

    @Test func `A randomized run of a cluster is the same until a fault that is skipped`() throws {
        var options = SimulationOptions()
        options.keepsTrace = true
        options.minEvents = 3000
        let whole = SimulationRun(seed: 8, options).run().trace
        options.skippedFaults = [5]
        let part = SimulationRun(seed: 8, options).run().trace
        let end = try #require(whole.firstIndex { $0.contains("fault 5:") })
        #expect(whole[..<end] == part[..<end])
        #expect(!part.contains { $0.contains("fault 5:") })
    }

    @Test func `A run with a database releases what it has made`() async {
        var options = SimulationOptions()
        options.minEvents = 1000
        options.nodes = .several
        weak var world: World?
        do {
            let run = SimulationRun(seed: 1, options)
            world = run.world
            #expect(run.run().violation == nil)
        }
        // A thread may be about to release its last job.
        while world != nil { await Task.yield() }
    }

    /// A run with fewer events than users run, so that the tests end soon.
    private func check(_ seed: UInt64) {
        var options = SimulationOptions()
        options.minEvents = Self.minEvents
        let report = SimulationRun(seed: seed, options).run()
        let text = report.violation.map { "\($0)" } ?? ""
        #expect(report.violation == nil, "seed \(seed), \(Self.minEvents) events: \(text)")
        #expect(
            report.faults.count >= SimulationOptions.minFaultKinds,
            "in seed \(seed) only \(report.faults.count) kinds of faults had an effect"
        )
    }

    #if DEBUG
        private static let (fixedCount, freshCount, minEvents): (UInt64, UInt64, Int) = (16, 8, 5000)
    #else
        private static let (fixedCount, freshCount, minEvents): (UInt64, UInt64, Int) = (120, 60, 10_000)
    #endif

    private static let freshSeeds: ClosedRange<UInt64> = {
        let first = UInt64.random(in: 1 << 32...1 << 40)
        return first...(first + freshCount - 1)
    }()
}
