package import ArgumentParser
import FleetApp
import Logging
import Statecast
import StatecastCoding
import StatecastCommandLine

package struct ReplicaCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast-replica",
        abstract: "Follows a store and shows its state.",
        discussion: """
            On a terminal it draws the state as a tree, the fleet store as a board, and again on each change. A star \
            marks a line that has changed since the previous state, for a second at least. The arrow keys (or k and \
            j), PgUp and PgDn (b and space), Home and End (g and G) scroll, q ends it like Ctrl-C. \
            Elsewhere, on a terminal whose TERM is dumb, or with --json, it prints each state as a line: \
            {"lineage":"...","epoch":1,"revision":3,"state":{...}}. A slow reader misses states in between, never the \
            newest. Without a UTF-8 locale, pictures are drawn in ASCII.

            It waits for the primary, and continues after a restart of the primary. Stopped before the state of \
            --once or --until, it ends with 1.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast-replica")
    )

    @OptionGroup var upstream: UpstreamOptions

    @Option(
        help: ArgumentHelp(
            "The name under which the primary lists this replica among the store's peers. (STATECAST_NAME, default: "
                + "HOST:PID)",
            valueName: "name"
        )
    )
    var name: String?

    @Option(
        help: ArgumentHelp(
            "Show only this part, such as hosts.web-1.latest or notes.0, and only when it changes. A path that begins "
                + "with a slash is a JSON Pointer, for keys with dots: /hosts/web-1.example.com/latest. A missing part "
                + "is shown as null with a notice; if the state of --once or --until lacks it, the command ends with "
                + "66.",
            valueName: "path"
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
            "How long to wait for the state of --once or --until; without these, for the first state; such as 5, 500ms "
                + "or 2m. (STATECAST_TIMEOUT, default: for ever)",
            valueName: "duration"
        )
    )
    var timeout: String?

    // For scripts that start other processes beside the picture.
    @Option(help: ArgumentHelp("Show the first line of this file below the picture.", visibility: .hidden))
    var notice: String?

    @OptionGroup var common: CommonOptions

    package init() {}

    package func run() async throws {
        try await reportingFailures {
            let isPicture = !json && Terminal.isTerminal(.standard) && (once || Terminal.isControllable)
            let settings = try await common.settings(
                upstream.flags.merging([.timeout: .text(timeout), .name: .text(name)]) { flag, _ in flag },
                screen: isPicture && !once ? .picture : .lines
            )
            let upstream = try await Upstream(settings)
            let goal = FollowGoal(
                select: try select.map { try StatePath($0) },
                end: once ? .firstState : until.map { .revision(Revision($0)) } ?? .never,
                timeout: try await settings.duration(.timeout)
            )
            let logger = Logger(label: "statecast.replica")
            let monitoring = try await Monitoring(settings)
            let replica = try upstream.replica(logger: logger)
            try await SignalledRun.until(
                done: {
                    let follower = StateFollower(replica, of: upstream, to: goal, logger: logger)
                    let output = LineOutput()
                    guard isPicture else { return try await follower.run(JSONLines(output)) }
                    let mode: DrawMode = goal.end == .firstState ? .last : .live
                    let notice = notice.map { NoticeFile(at: $0) }
                    if upstream.store == Fleet.storeName, goal.select == nil {
                        let picture = LivePicture(BoardPicture(), on: output, mode: mode, notice: notice)
                        try await picture.whileOpen { try await follower.run(picture) }
                    } else {
                        let picture = LivePicture(TreePicture(), on: output, mode: mode, notice: notice)
                        try await picture.whileOpen { try await follower.run(picture) }
                    }
                },
                beside: monitoring.services(for: [replica], logger: logger) + [replica],
                observedBy: monitoring.observers(of: [replica]),
                logger: logger
            )
        }
    }
}

/// The fleet as a board; any other state in a store of that name as a tree.
private struct BoardPicture: Picture {
    private let connector = BoardConnector()
    private let styling: BoardText.Styling = Terminal.showsColour ? .colour : .plain

    /// Lines of the board besides hosts and notes: title, totals, headings, the count of hidden hosts, two blank ones.
    private static let otherLines = 6

    func page(of state: FollowedState, since earlier: FollowedState?, in frame: PictureFrame) -> PicturePage {
        guard let part = state.part, let now = state.primaryTime,
            let fleet = try? StateDecoder().decode(Fleet.self, from: part)
        else { return TreePicture().page(of: state, since: earlier, in: frame) }
        let props = connector.props(from: fleet, at: now)
        let maxRows = frame.rows.map { max(1, $0 - Self.otherLines - props.notes.count) }
        let first = maxRows.map { min(frame.first, max(0, props.rows.count - $0)) } ?? 0
        let board = BoardText(columns: frame.columns, first: first, maxRows: maxRows, styling: styling)
        let lines = board.lines(of: props, title: state.title).map { line in
            PicturePage.Line(line.text, isChanged: line.host.map { Self.hasChanged($0, part, since: earlier) } ?? false)
        }
        return PicturePage(lines, first: first)
    }

    private static func hasChanged(_ host: String, _ part: Value, since earlier: FollowedState?) -> Bool {
        guard let earlier = earlier?.part else { return false }
        return part["hosts"]?[host] != earlier["hosts"]?[host]
    }
}
