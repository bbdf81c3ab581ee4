import ArgumentParser
import CommandLineSupport
import FleetApp
import HostSampling
import Logging
import Statecast

@main
struct AgentCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet-agent",
        abstract: "Samples this machine and sends what it finds to a fleet store.",
        discussion: """
            While the primary is away it goes on sampling, and keeps the newest sample alone. Rejections are said on \
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

    func run() async throws {
        try await reportingFailures {
            let settings = try await common.settings(
                upstream.flags.merging([.interval: .text(interval)]) { flag, _ in flag }
            )
            let upstream = try await Upstream(settings)
            let interval = try await settings.duration(.interval) ?? .seconds(2)
            let logger = Logger(label: "statecast.agent")
            let sender = try upstream.sender(logger: logger)
            let notices = PresenceNotices(upstream, logger: logger)
            let noticing = Task { await notices.follow(sender.statuses.map(\.presence)) }
            defer { noticing.cancel() }
            let agent = Agent(sender, interval: interval, logger: logger)
            try await CommandRun.until(done: { try await agent.run() }, beside: [sender], logger: logger)
        }
    }
}
