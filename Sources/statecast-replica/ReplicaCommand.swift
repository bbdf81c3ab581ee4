import ArgumentParser
import CommandLineSupport
import FleetApp
import Logging
import Statecast

@main
struct ReplicaCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-replica",
        abstract: "Follows a store and shows its state.",
        discussion: """
            On a terminal it draws the state as a tree, the fleet store as a board, and again on each change. Elsewhere, \
            on a terminal whose TERM is dumb, or with --json, it prints each state as a line: \
            {"lineage":"...","epoch":1,"revision":3,"state":{...}}. A slow reader misses states in between, never the newest. \
            Where the locale is not one of UTF-8, pictures are drawn in ASCII.

            It waits for a primary that is not there yet, and goes on by itself when the primary was restarted. Stopped \
            before the state of --once or --until, it ends with 1.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast-replica")
    )

    @OptionGroup var upstream: UpstreamOptions

    @Option(
        help: ArgumentHelp(
            "Show this part alone, such as hosts.web-1.latest or notes.0, and only when it changes. A missing part is shown "
                + "as null with a notice; if the state of --once or --until has none, the command ends with 66.",
            valueName: "a.b.c"
        )
    )
    var select: String?

    @Flag(help: "Print JSON, one state a line, also on a terminal.")
    var json = false

    @Flag(help: "Print one live state and end.")
    var once = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("End with the first state that has this revision or a later one.", valueName: "revision")
    )
    var until: UInt64?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long to wait for the state of --once or --until; without these, for the first state; such as 5, 500ms or "
                + "2m. (STATECAST_TIMEOUT, default: for ever)",
            valueName: "duration"
        )
    )
    var timeout: String?

    @OptionGroup var common: CommonOptions

    func run() async throws {
        try await reportingFailures {
            let isPicture = !json && Terminal.isTerminal(.standard) && (once || Terminal.isControllable)
            let settings = try await common.settings(
                upstream.flags.merging([.timeout: .text(timeout)]) { flag, _ in flag },
                isScreenOwned: isPicture && !once
            )
            let upstream = try await Upstream(settings)
            let goal = FollowingGoal(
                select: select,
                once: once,
                until: until.map { Revision($0) },
                timeout: try await settings.duration(.timeout)
            )
            let logger = Logger(label: "statecast.replica")
            let replica = try upstream.replica(logger: logger)
            let notices = PresenceNotices(upstream, logger: logger)
            let noticing = Task { await notices.follow(replica.statuses.map(\.presence)) }
            defer { noticing.cancel() }
            try await CommandRun.until(
                done: {
                    let following = Following(replica, of: upstream, to: goal, logger: logger)
                    let output = LineOutput()
                    guard isPicture else { return try await following.run(JSONLines(output)) }
                    let isLive = !goal.once
                    if upstream.store == Fleet.storeName, goal.select == nil {
                        try await following.run(LivePicture(BoardPicture(), on: output, isLive: isLive))
                    } else {
                        try await following.run(LivePicture(TreePicture(), on: output, isLive: isLive))
                    }
                },
                beside: [replica],
                logger: logger
            )
        }
    }
}
