package import ArgumentParser
internal import Logging

/// The options of every executable.
package struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A JSON file with settings. (STATECAST_CONFIG)", valueName: "file")
    )
    package var config: String?

    @Option(
        help: ArgumentHelp(
            "What to say on standard error: trace, debug, info, notice, warning, error or critical. "
                + "(STATECAST_LOG_LEVEL, default: notice)",
            valueName: "level"
        )
    )
    package var logLevel: String?

    /// For argument-parser.
    package init() {}

    /// Gathers the settings from flags, environment and file, and lets logs go to standard error.
    ///
    /// - Parameter isScreenOwned: whether the terminal shows a picture that log lines would tear; if standard error is a
    ///   terminal too, only critical ones are then let through.
    package func settings(
        _ flags: [SettingKey: SettingFlag],
        isScreenOwned: Bool = false
    ) async throws -> Settings {
        let settings = try await Settings(
            flags: flags.merging([.logLevel: .text(logLevel)]) { flag, _ in flag },
            file: config
        )
        let level = try await settings.choice(.logLevel, default: Logger.Level.notice)
        let isTorn = isScreenOwned && Terminal.isTerminal(.error)
        LineLogHandler.bootstrap(level: isTorn ? .critical : level)
        let logger = Logger(label: "statecast.settings")
        for notice in settings.strangeVariables { logger.warning("\(notice)") }
        return settings
    }
}

extension CommonOptions {
    /// Where settings come from, for the end of a help text.
    package static let sources = """
        Flags win over the environment, the environment over the config file. The file is a JSON object; its keys are \
        the names of the flags in camel case, such as {"from": "tcp://127.0.0.1:7100", "logLevel": "info"}.
        """

    /// What the executables that run until a signal have in common, for the end of their help texts.
    package static let discussion =
        sources + """


            Exit codes: 0 done, 2 an action was rejected, 3 the outcome of an action is unknown, 64 wrong usage, 65 the \
            journal is damaged, 66 nothing at the path of --select, 78 the journal is of another store or build, 1 \
            anything else. SIGINT and SIGTERM stop gracefully, SIGHUP too where it is not ignored.
            """
}
