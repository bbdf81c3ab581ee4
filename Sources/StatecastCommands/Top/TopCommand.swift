package import ArgumentParser
import Logging
import Statecast
import StatecastCommandLine

package struct TopCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Shows who is connected to a store, how far each one is, and what the store does.",
        discussion: """
            It follows the list of the store's peers, STORE.peers, which the primary publishes at most once a second. \
            With --keys, the list has an endpoint of its own: that of statecast-primary --peers. Rejections are those \
            since the primary began to serve.

            On a terminal, l, r, n and a sort by lag, rate, name and age. Elsewhere, on a terminal whose TERM is dumb, \
            or with --json, it prints each list as a line: {"lineage":"...","epoch":1,"revision":3,"state":{...}}.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast")
    )

    @OptionGroup var upstream: UpstreamOptions

    @Flag(help: "Print JSON, one list a line, also on a terminal.")
    var json = false

    @Flag(help: "Print one list with its rates, as a table or with --json as a line, and end.")
    var once = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to wait for the list, such as 5, 500ms or 2m. (STATECAST_TIMEOUT, default: for ever)",
            valueName: "duration"
        )
    )
    var timeout: String?

    @OptionGroup var common: CommonOptions

    package init() {}

    package func run() async throws {
        try await reportingFailures {
            let isPicture = !json && (once || Terminal.isTerminal(.standard) && Terminal.isControllable)
            let settings = try await common.settings(
                upstream.flags.merging([.timeout: .text(timeout)]) { flag, _ in flag },
                screen: isPicture && !once ? .picture : .lines
            )
            let upstream = try await Upstream(settings, ofPeers: true)
            let goal = FollowGoal(
                select: nil,
                // The rates are measured from the first list to the second.
                end: once ? .firstPart(try StatePath("/actionsPerSecond")) : .never,
                timeout: try await settings.duration(.timeout)
            )
            let isOnce = once
            let logger = Logger(label: "statecast.top")
            let monitoring = try await Monitoring(settings)
            let replica = try upstream.replica(logger: logger)
            try await SignalledRun.until(
                done: {
                    do {
                        let follower = StateFollower(replica, of: upstream, to: goal, logger: logger)
                        let output = LineOutput()
                        let mode: DrawMode = isOnce ? .last : .live
                        guard isPicture else { return try await follower.run(JSONLines(output, mode: mode)) }
                        let picture = LivePicture(PeersPicture(), on: output, mode: mode)
                        try await picture.whileOpen { try await follower.run(picture) }
                    } catch let reason as Rejection where reason.code == .unknownStore {
                        throw CommandFailure.failed(
                            "\(reason.message). A primary lists the peers of a store unless it has --peers off, and "
                                + "with --keys only at the endpoint that --peers names"
                        )
                    }
                },
                beside: monitoring.services(for: [replica], logger: logger) + [replica],
                observedBy: monitoring.observers(of: [replica]),
                logger: logger
            )
        }
    }
}
