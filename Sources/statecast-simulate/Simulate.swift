import ArgumentParser
import Simulation

@main
struct Simulate: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-simulate",
        abstract: "Runs whole clusters under a virtual clock, with faults, and checks what must hold."
    )

    @Option(help: "The number of seeds.")
    var seeds = 100

    @Option(help: "The first seed, or the only one.")
    var seed: UInt64?

    @Flag(help: "Prints everything that happens.")
    var trace = false

    func run() throws {
        var options = SimulationOptions()
        options.keepsTrace = trace
        let first = seed ?? 1
        for seed in first..<(first + UInt64(self.seed == nil ? seeds : 1)) {
            let report = Simulation(seed: seed, options).run()
            for line in report.trace { print(line) }
            if let violation = report.violation {
                print("seed \(seed): \(violation)")
            } else {
                print("seed \(seed): \(report.events) events, \(report.time)")
            }
        }
    }
}
