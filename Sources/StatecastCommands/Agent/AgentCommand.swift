package import ArgumentParser
import FleetApp
import HostSampling
import Logging
import ServiceLifecycle
import Statecast
import StatecastCommandLine

package struct AgentCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "fleet-agent",
        abstract: "Samples this host and sends the samples to a fleet store.",
        discussion: """
            Without a primary it continues to sample, and keeps only the newest sample. Rejections are logged to \
            standard error.


            """ + CommonOptions.discussion,
        version: Release.line(of: "fleet-agent")
    )

    @OptionGroup var upstream: UpstreamOptions

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Time between two samples, such as 5, 500ms or 2m. (STATECAST_INTERVAL, default: 2s)",
            valueName: "duration"
        )
    )
    var interval: String?

    @OptionGroup var common: CommonOptions

    package init() {}

    package func run() async throws {
        try await reportingFailures {
            let settings = try await common.settings(
                upstream.flags.merging([.interval: .text(interval)]) { flag, _ in flag }
            )
            let upstream = try await Upstream(settings, sends: true)
            let interval = try await settings.duration(.interval) ?? .seconds(2)
            let logger = Logger(label: "statecast.agent")
            let monitoring = try await Monitoring(settings)
            let sender = try upstream.sender(logger: logger)
            let agent = Agent(sender, interval: interval, logger: logger)
            try await SignalledRun.until(
                done: { try await agent.run() },
                beside: monitoring.services(for: [sender], logger: logger) + [sender],
                observedBy: monitoring.observers(of: [sender]),
                logger: logger
            )
        }
    }
}

/// Samples and sends at a fixed interval.
private struct Agent: Sendable {
    private let sender: ActionSender
    private let interval: Duration
    private let logger: Logger
    private let sampler = HostSampler()

    /// Drops a sample when the next one is due, but leaves the primary time to answer.
    private var sendTimeout: Duration { max(interval, .seconds(1)) }

    init(_ sender: ActionSender, interval: Duration, logger: Logger) {
        self.sender = sender
        self.interval = interval
        self.logger = logger
    }

    /// Runs until the process is asked to stop.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var next = ContinuousClock.now
            var logged: String?
            while true {
                let problem = await sampleAndSend()
                // Logs a repeated problem once.
                if let problem, problem != logged { logger.warning("\(problem)") }
                logged = problem
                repeat { next = next.advanced(by: interval) } while next < .now
                try await Task.sleep(until: next)
            }
        }
    }

    /// - Returns: the problem; `nil` for an absent primary, which the sender logs.
    private func sampleAndSend() async -> String? {
        let sample: Sample
        do { sample = try sampler.sample() } catch { return "cannot sample this host: \(error)" }
        do {
            try await sender.send(HostSampled(host: sampler.hostName, sample: sample), timeout: sendTimeout)
            return nil
        } catch let rejection as Rejection {
            let isLate = rejection.code == .notSent || rejection.code == .outcomeUnknown
            return isLate ? nil : "the sample was rejected: \(rejection)"
        } catch {
            return "cannot send the sample: \(error)"
        }
    }
}
