import ArgumentParser
import CommandLineSupport
import Logging
import Statecast

@main
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-send",
        abstract: "Sends actions to a store, and shows what became of each.",
        discussion: """
            Each action has a line, in order: applied, with the revision that it made, or rejected, with the reason. With \
            --json: {"number":1,"status":"applied","revision":12}; the statuses are applied, rejected, unknown and \
            not-sent.

            It waits for a primary that is not there yet. --list shows which actions there are.

            With --session FILE a run that was ended, by whatever means, goes on with --resume: what it took from its \
            input and did not finish is in the file. What was not printed is printed then; the last lines before the end may \
            be printed again. With --json each line names its line of the input: "line":12. Where a run ends before its \
            work is done, it says so and ends with 1. A file whose work is done serves for another input, without --resume.


            """ + CommonOptions.discussion
    )

    @OptionGroup var upstream: UpstreamOptions

    @Flag(help: "Print each receipt as JSON.")
    var json = false

    @Flag(
        help: ArgumentHelp(
            "Read actions from standard input, one a line, such as "
                + "{\"action\":\"StepChangeRequested\",\"payload\":{\"step\":7}}."
        )
    )
    var ndjson = false

    @Flag(
        help:
            "Show the actions that the primary knows, each with an example payload; with --json as lines for --ndjson."
    )
    var list = false

    @Option(
        help: ArgumentHelp(
            "How long the whole command may take. (STATECAST_TIMEOUT, default: as long as it takes)",
            valueName: "seconds"
        )
    )
    var timeout: Double?

    @OptionGroup var session: SessionOptions

    @OptionGroup var common: CommonOptions

    @Argument(help: "The action's name.")
    var action: String?

    @Argument(help: ArgumentHelp("Its payload in JSON, {} if left out.", valueName: "payload-json"))
    var payload: String?

    func validate() throws {
        let ways = [action != nil, ndjson, list].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "Name an action, or say --ndjson or --list."
                    : "An action, --ndjson and --list exclude each other."
            )
        }
        if list && session.session != nil { throw ValidationError("--list sends nothing that --session could keep.") }
    }

    func run() async throws {
        try await reportingFailures {
            let request = try action.map { try ActionRequest(name: $0, payload: payload) }
            let settings = try await common.settings(
                upstream.flags.merging([.timeout: .number(timeout)]) { flag, _ in flag }
            )
            let upstream = try await Upstream(settings)
            let timeout = try await settings.duration(.timeout)
            let logger = Logger(label: "statecast.send")
            let file = try session.open(for: upstream.store)
            let sender = try upstream.sender(session: file, logger: logger)
            let notices = PresenceNotices(upstream, logger: logger)
            let noticing = Task { await notices.follow(sender.statuses.map(\.presence)) }
            defer { noticing.cancel() }
            let (asJSON, isList) = (json, list)
            try await CommandRun.until(
                done: {
                    let output = LineOutput()
                    if isList {
                        let listing = ActionListing(sender, output: output, asJSON: asJSON)
                        return try await listing.run(from: upstream, timeout: timeout)
                    }
                    let source = request.map(Sending.Source.single) ?? .lines(InputLines())
                    let sending = Sending(sender, session: file, output: output, asJSON: asJSON)
                    try await sending.run(source, to: upstream, timeout: timeout)
                },
                beside: [sender],
                logger: logger
            )
        }
    }
}
