import ArgumentParser
import CommandLineSupport
import Logging
internal import StateCoding
import Statecast

@main
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-send",
        abstract: "Sends actions to a store, and shows what became of each.",
        discussion: """
            Each action has a line, in order: applied, with the revision that it made, or rejected, with the reason. With \
            --json: {"number":1,"status":"applied","revision":12}; the statuses are applied, rejected, unknown and \
            not-sent. With --ndjson --json each names its line of the input, too: "line":12.

            A payload is JSON, or fields such as step=7 name=web-1 (a value that is no JSON is a text), or @FILE or - for JSON \
            in a file or in standard input. Put one that begins with a dash after --. --list shows which actions there \
            are, --ping whether the primary answers.

            One action, --list and --ping wait 10 seconds for an answer, --ndjson as long as it takes; --timeout and --wait \
            say otherwise. --ndjson ends with the number of outcomes on standard error.

            With --session FILE a run that was ended, by whatever means, goes on with --resume: what it took from its \
            input and did not finish is in the file. What was not printed is printed then; the last lines before the end may \
            be printed again. Where a run ends before its work is done, it says so and ends with 1. A file whose work is done serves for another input, without --resume.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast-send")
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

    @Flag(help: "Ask the primary where the store stands: epoch, revision, sessions, durability, and the round trip.")
    var ping = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "How long the whole command may take, such as 5, 500ms or 2m. (STATECAST_TIMEOUT, default: 10s; with --ndjson as "
                + "long as it takes)",
            valueName: "duration"
        )
    )
    var timeout: String?

    @Flag(help: "Wait as long as it takes.")
    var wait = false

    @OptionGroup var session: SessionOptions

    @OptionGroup var common: CommonOptions

    @Argument(help: "The action's name.")
    var action: String?

    @Argument(help: "Its payload: JSON, fields such as step=7, @file or -; {} if left out.")
    var payload: [String] = []

    func validate() throws {
        if action == "help", payload.isEmpty { throw CleanExit.helpRequest(self) }
        let ways = [action != nil, ndjson, list, ping].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "Name an action, or say --ndjson, --list or --ping."
                    : "An action, --ndjson, --list and --ping exclude each other."
            )
        }
        if list || ping, session.session != nil {
            throw ValidationError("--list and --ping send nothing that --session could keep.")
        }
        if wait, timeout != nil { throw ValidationError("--wait and --timeout exclude each other.") }
    }

    /// The time limit without --timeout and --wait.
    private static let standardTimeout = Duration.seconds(10)

    private func timeLimit(_ settings: Settings) async throws -> Duration? {
        if wait { return nil }
        return try await settings.duration(.timeout) ?? (ndjson ? nil : Self.standardTimeout)
    }

    func run() async throws {
        try await reportingFailures {
            let request = try action.map { try ActionRequest(name: $0, payload: payload) }
            let settings = try await common.settings(
                upstream.flags.merging([.timeout: .text(timeout)]) { flag, _ in flag }
            )
            let upstream = try await Upstream(settings)
            let timeout = try await timeLimit(settings)
            let logger = Logger(label: "statecast.send")
            let file = try session.open(for: upstream.store)
            let sender = try upstream.sender(session: file, logger: logger)
            let notices = PresenceNotices(upstream, logger: logger)
            let noticing = Task { await notices.follow(sender.statuses.map(\.presence)) }
            defer { noticing.cancel() }
            let (asJSON, isList, isPing) = (json, list, ping)
            try await CommandRun.until(
                done: {
                    let output = LineOutput()
                    let query = SchemaQuery(sender, of: upstream, timeout: timeout, output: output, asJSON: asJSON)
                    if isList { return try await query.list() }
                    if isPing { return try await query.ping() }
                    let source = request.map(Sending.Source.single) ?? .lines(InputLines())
                    let sending = Sending(sender, session: file, output: output, asJSON: asJSON, logger: logger)
                    try await sending.run(source, to: upstream, timeout: timeout)
                },
                beside: [sender],
                logger: logger
            )
        }
    }
}
