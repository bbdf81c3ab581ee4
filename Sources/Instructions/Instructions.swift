import ArgumentParser
import CoreMetrics
import StatecastMonitoring

/// Runs a fixed number of actions through one role, for a tool that counts instructions: `scripts/check-instructions`.
///
/// It reads no clock, uses no random numbers, and starts no thread, so that each run executes the same instructions:
/// durations are recorded as zero.
@main
struct Instructions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-instructions",
        abstract: "Runs actions through one role. A tool counts the instructions within collectInstructions(_:)."
    )

    @Argument var role: Role
    @Argument(help: "The number of actions, a multiple of those in a frame.") var count: Int

    @Flag(help: "Report metrics to a backend, as with --monitor.") var monitored = false

    func validate() throws {
        guard count > 0, count % role.actionsPerFrame == 0 else {
            throw ValidationError("\(count) is not a multiple of \(role.actionsPerFrame)")
        }
    }

    func run() throws {
        if monitored { MetricsSystem.bootstrap(PrometheusMetrics()) }
        try role.run(count)
    }
}

/// A closure as an object: the compiler would specialize `collectInstructions` for each closure, and merge some of
/// these functions under another name.
final class CountedWork {
    let run: () throws -> Void

    init(_ run: @escaping () throws -> Void) { self.run = run }
}

/// Does work whose instructions count. The tool finds this function by its name.
@inline(never)
func collectInstructions(_ work: CountedWork) throws { try work.run() }

/// Runs `body`, whose instructions count if `isCounted`.
func collect(_ isCounted: Bool, _ body: () throws -> Void) throws {
    guard isCounted else { return try body() }
    try withoutActuallyEscaping(body) { try collectInstructions(CountedWork($0)) }
}
