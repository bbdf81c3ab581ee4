package import ArgumentParser
import Logging
import Statecast
import StatecastCoding
import StatecastCommandLine

package struct SendCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast-send",
        abstract: "Sends actions to a store, and prints the outcome of each.",
        discussion: """
            Each action has a line, in order: applied, with its revision, or rejected, with the reason. With --json: \
            {"number":1,"status":"applied","revision":12}; the statuses are applied, rejected, unknown, not-sent and \
            kept. With --ndjson --json each line also has the line of the input: "line":12.

            A payload is JSON, or fields such as step=7 name=web-1 (a value that is not JSON is a text), or @FILE or - \
            for JSON in a file or in standard input. Put one that begins with a dash after --. --list prints the \
            store's actions, --ping checks that the primary answers.

            One action, --list and --ping wait 10 seconds for an answer, --ndjson without a limit; --timeout and \
            --wait change that. --ndjson ends with the number of outcomes on standard error.

            With --session FILE and --resume, a run continues one that was ended in any way: the file has the actions \
            that are not finished. Outcomes that were not printed are printed then; the last lines before the end may \
            be printed again. A run that ends before its work is done says so and ends with 1. A file without \
            unfinished work can be used for another input, without --resume.


            """ + CommonOptions.discussion,
        version: Release.line(of: "statecast-send")
    )

    @OptionGroup var upstream: UpstreamOptions

    @Flag(help: "Print each outcome as JSON.")
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
            "Print the store's actions, each with an example payload; with --json as lines for --ndjson."
    )
    var list = false

    @Flag(help: "Print the store's epoch, revision, sessions and durability, and the round trip to the primary.")
    var ping = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "The time limit of the whole command, such as 5, 500ms or 2m. (STATECAST_TIMEOUT, default: 10s; with "
                + "--ndjson no limit)",
            valueName: "duration"
        )
    )
    var timeout: String?

    @Flag(help: "Wait without a time limit.")
    var wait = false

    @OptionGroup var session: SessionOptions

    @OptionGroup var common: CommonOptions

    @Argument(help: "The action's name.")
    var action: String?

    @Argument(help: "Its payload: JSON, fields such as step=7, @file or -; {} if left out.")
    var payload: [String] = []

    package func validate() throws {
        if action == "help", payload.isEmpty { throw CleanExit.helpRequest(self) }
        let ways = [action != nil, ndjson, list, ping].count { $0 }
        guard ways == 1 else {
            throw ValidationError(
                ways == 0
                    ? "Name an action, or give --ndjson, --list or --ping."
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

    package init() {}

    package func run() async throws {
        try await reportingFailures {
            let request = try action.map { try ActionRequest(name: $0, payload: payload) }
            let settings = try await common.settings(
                upstream.flags.merging([.timeout: .text(timeout)]) { flag, _ in flag }
            )
            let upstream = try await Upstream(settings, sends: !list && !ping)
            let timeout = try await timeLimit(settings)
            let logger = Logger(label: "statecast.send")
            let file = try session.open(for: upstream.store)
            let monitoring = try await Monitoring(settings)
            let sender = try upstream.sender(session: file, logger: logger)
            let (format, isList, isPing) = (json ? OutputFormat.json : .text, list, ping)
            try await SignalledRun.until(
                done: {
                    let output = LineOutput()
                    let query = SchemaQuery(sender, of: upstream, timeout: timeout, output: output, format: format)
                    if isList { return try await query.list() }
                    if isPing { return try await query.ping() }
                    let source = request.map(SendPipeline.Source.single) ?? .lines(InputLines())
                    let pipeline = SendPipeline(sender, session: file, output: output, format: format, logger: logger)
                    try await pipeline.run(source, to: upstream, timeout: timeout)
                },
                beside: monitoring.services(for: [sender], logger: logger) + [sender],
                logger: logger
            )
        }
    }
}
