package import ArgumentParser
import Logging
import Statecast
import StatecastProtocol

/// The options of every executable.
package struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("A JSON file with settings. (STATECAST_CONFIG)", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    package var config: String?

    @Option(
        help: ArgumentHelp(
            "The level of log lines on standard error: trace, debug, info, notice, warning, error or critical. "
                + "(STATECAST_LOG_LEVEL, default: notice)",
            valueName: "level"
        ),
        completion: .values(of: Logger.Level.self)
    )
    package var logLevel: String?

    @Option(
        help: ArgumentHelp(
            "The form of log lines: text or json. (STATECAST_LOG_FORMAT, default: text)",
            valueName: "format"
        ),
        completion: .values(of: LogFormat.self)
    )
    package var logFormat: String?

    package init() {}

    /// The form of the command's output on the terminal.
    package enum Screen: Sendable {
        /// Lines, which may alternate with log lines.
        case lines
        /// A picture. If standard error is a terminal, it shows the last log line; only critical ones are printed.
        case picture
    }

    /// Reads the settings from flags, environment and file, and sends logs to standard error.
    package func settings(_ flags: [SettingKey: SettingFlag], screen: Screen = .lines) async throws -> Settings {
        let settings = try await Settings(
            flags: flags.merging([.logLevel: .text(logLevel), .logFormat: .text(logFormat)]) { flag, _ in flag },
            file: config
        )
        let level = try await settings.choice(.logLevel, default: Logger.Level.notice)
        let format = try await settings.choice(.logFormat, default: LogFormat.text)
        LineLogHandler.bootstrap(level: level, format, hasPicture: screen == .picture && Terminal.isTerminal(.error))
        let logger = Logger(label: "statecast.settings")
        for notice in settings.unknownVariables { logger.warning("\(notice)") }
        return settings
    }

    /// The sources of settings, for the end of a help text.
    package static let sources = """
        Flags win over the environment, the environment over the config file. The file is a JSON object; its keys are \
        the names of the flags in camel case, such as {"from": "tcp://127.0.0.1:7100", "logLevel": "info"}.
        """

    /// The end of the help texts of executables that run until a signal.
    package static let discussion =
        sources + """


            Exit codes: 0 done, 2 an action was rejected, 3 the outcome of an action is unknown, 64 wrong usage, 65 \
            the journal is damaged, 66 nothing at the path of --select, 78 the journal is of another store or build, 1 \
            anything else. SIGINT and SIGTERM stop gracefully, SIGHUP too where it is not ignored.
            """
}

extension CompletionKind {
    /// The words of an option that accepts some words.
    package static func values<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> CompletionKind
    {
        .list(type.allCases.map(\.rawValue))
    }
}

/// The options of every executable that runs a node.
package struct NodeOptions: ParsableArguments {
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "After a short wait, poll for up to this time instead of sleeping; 0 saves CPU time. "
                + "(STATECAST_BUSY_POLLING_MAX, default: 400us, for a gateway 0)",
            valueName: "duration"
        )
    )
    package var busyPollingMax: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Close the connections if the process uses more memory than this; 0: no limit. "
                + "(STATECAST_MAX_MEMORY, default: 1073741824)",
            valueName: "bytes"
        )
    )
    package var maxMemory: Int?

    @Option(
        help: ArgumentHelp(
            "Show metrics and health over HTTP at this address, such as 127.0.0.1:7180. (STATECAST_MONITOR)",
            valueName: "host:port"
        )
    )
    package var monitor: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Permit --monitor, and a gateway's --listen, at an address beyond this machine. (STATECAST_INSECURE_HTTP)"
    )
    package var insecureHttp: Bool?

    @Option(
        help: ArgumentHelp(
            "Write metrics to this file every 15 seconds and at the end, for the textfile collector of Prometheus. "
                + "(STATECAST_METRICS_FILE)",
            valueName: "file"
        ),
        completion: .file()
    )
    package var metricsFile: String?

    /// The options as flags for ``Settings``.
    package var flags: [SettingKey: SettingFlag] {
        [
            .busyPollingMax: .text(busyPollingMax), .maxMemory: .count(maxMemory), .monitor: .text(monitor),
            .insecureHttp: .isOn(insecureHttp), .metricsFile: .text(metricsFile),
        ]
    }

    package init() {}
}

extension Release {
    /// What `--version` prints.
    package static func line(of executable: String) -> String {
        "\(executable) \(number), protocol version \(Address.version)"
    }
}
