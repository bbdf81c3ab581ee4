import Foundation
import Testing

/// Signals, streams, terminals, rights and exit codes.
@Suite(.timeLimit(.minutes(10))) struct OperatingTests {
    /// Runs a tool whose standard error is part of its lines.
    private func merged<T: Sendable>(
        _ tool: Tool,
        _ arguments: [String],
        after preparation: String = ":",
        _ body: @Sendable (RunningTool) async throws -> T
    ) async throws -> (value: T, ending: Tool.Ending) {
        let script = #"\#(preparation); exec "$0" "$@" 2>&1"#
        return try await Tool(name: "/bin/sh").running(["-c", script, tool.location] + arguments, body)
    }

    // MARK: Signals

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a replica that is stopped before its last state exits with 1 and a message`(signal: Int32) async throws {
        let gone = try AbsentPrimary()
        for goal in [["--once"], ["--until", "3"]] {
            let (lines, ending) = try await merged(.replica, gone.upstream + goal) { replica in
                _ = try await replica.line { $0.contains("waiting for the primary") }
                replica.send(signal)
                return await replica.lines.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(ending.exitCode == 1, "\(ending)")
            #expect(lines.contains { $0.contains("interrupted: no live state of store counter") }, "\(lines)")
        }
    }

    @Test(arguments: ["--list", "--ping"])
    func `a query that is interrupted before its answer exits with 1 and a message`(question: String) async throws {
        let gone = try AbsentPrimary()
        let (lines, ending) = try await merged(.send, gone.upstream + [question]) { sender in
            _ = try await sender.line { $0.contains("waiting for the primary") }
            sender.send(SIGINT)
            return await sender.lines.reduce(into: [String]()) { $0.append($1) }
        }
        #expect(ending.exitCode == 1, "\(ending)")
        #expect(lines.contains { $0.contains("interrupted: no primary answered at \(gone.publish)") }, "\(lines)")
    }

    @Test func `SIGHUP stops all executables but the primary gracefully`() async throws {
        try await withServed(app: "fleet") { served in
            served.tool.send(SIGHUP)
            let (_, replica) = try await Tool.replica.running(served.upstream + ["--json"]) { replica in
                _ = try await replica.line { _ in true }
                replica.send(SIGHUP)
                for await _ in replica.lines {}
            }
            #expect(replica.exitCode == 0, "\(replica)")
            let (_, agent) = try await Tool.agent.running(["--from", served.publish, "--interval", "50ms"]) { agent in
                _ = try await Tool.replica.run(served.upstream + ["--until", "1"])
                agent.send(SIGHUP)
                for await _ in agent.lines {}
            }
            #expect(agent.exitCode == 0, "\(agent)")
            let sending = served.upstream + ["--ndjson", "--json"]
            let (_, sender) = try await Tool.send.running(sending) { sender in
                try await sender.write(#"{"action":"NoteAdded","payload":{"text":"first"}}"# + "\n")
                _ = try await sender.line { $0.contains("applied") }
                sender.send(SIGHUP)
                for await _ in sender.lines {}
            }
            #expect(sender.exitCode == 1)
            #expect(sender.errors.contains("interrupted before the input ended"), "\(sender.errors)")
            let pinged = try await Tool.replica.run(served.upstream + ["--once", "--json"])
            #expect(pinged.exitCode == 0, "\(pinged.errors)")
        }
    }

    @Test func `a replica that ignores SIGHUP keeps running`() async throws {
        try await withServed { served in
            let (_, ending) = try await merged(.replica, served.upstream + ["--json"], after: "trap '' HUP") {
                replica in
                _ = try await replica.line { $0.contains(#""revision":0,"#) }
                replica.send(SIGHUP)
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                #expect(sent.exitCode == 0, "\(sent.errors)")
                _ = try await replica.line { $0.contains(#""revision":1,"#) }
            }
            #expect(ending.exitCode == 0)
        }
    }

    // MARK: Streams

    @Test func `a primary without standard output prints its ready line to standard error, and serves`()
        async throws
    {
        let script = #"exec "$0" "$@" 2>&1 >&-"#
        let ports = ["--app", "counter", "--publish", anyPort, "--actions", anyPort]
        let (_, ending) = try await Tool(name: "/bin/sh").running(["-c", script, Tool.primary.location] + ports) {
            tool in
            let line = try await tool.line { $0.contains("ready store=counter") }
            #expect(line.contains("cannot write to standard output: it is closed"), "\(line)")
            let publish = try #require(line.split(separator: " ").first { $0.hasPrefix("publish=") }).dropFirst(8)
            let shown = try await Tool.replica.run(["--from", String(publish), "--store", "counter", "--once"])
            #expect(shown.exitCode == 0, "\(shown.errors)")
        }
        #expect(ending.exitCode == 0)
    }

    @Test func `an agent logs that the primary has no such store`() async throws {
        try await withServed { served in
            _ = try await merged(.agent, ["--from", served.publish, "--interval", "100ms"]) { agent in
                _ = try await agent.line { $0.contains(#"unknown-store: there is no store "fleet" here"#) }
            }
        }
    }

    // MARK: Terminals

    #if os(Linux)
        private static let hasScript = FileManager.default.isExecutableFile(atPath: "/usr/bin/script")
        private static let sample = """
            {"load1":1.25,"load5":1.125,"load15":1,"cpuCount":4,"memoryTotalBytes":17179869184,\
            "memoryAvailableBytes":8589934592,"uptimeSeconds":86400.5,"cpuSeconds":7200.25,\
            "diskTotalBytes":274877906944,"diskFreeBytes":137438953472}
            """

        /// The output of a command on a terminal.
        private func shown(_ command: String, _ environment: String, _ served: Served) async throws -> String {
            let ending = try await Tool.shell(
                #"script --quiet --return --command "env \#(environment) \#(command)" /dev/null"#,
                from: served.publish
            )
            #expect(ending.exitCode == 0, "\(ending)")
            return ending.output.joined(separator: "\n")
        }

        @Test(.enabled(if: hasScript)) func `a dumb terminal gets no escape sequences`() async throws {
            try await withServed(app: "fleet") { served in
                let payload = #"{"host":"web-1","sample":\#(Self.sample)}"#
                let sent = try await Tool.send.run(served.upstream + ["HostSampled", payload])
                #expect(sent.exitCode == 0, "\(sent)")
                let live = "statecast-replica --until 1"
                for term in ["-u TERM", "TERM=dumb"] {
                    let lines = try await shown(live, "\(term) LC_ALL=C.UTF-8", served)
                    #expect(!lines.contains("\u{1B}"), "\(lines)")
                    #expect(lines.contains(#""revision":1,"#), "\(lines)")
                    let board = try await shown("statecast-replica --once", "\(term) LC_ALL=C.UTF-8", served)
                    #expect(!board.contains("\u{1B}"), "\(board)")
                    #expect(board.contains("web-1"), "\(board)")
                }
                let coloured = try await shown("statecast-replica --once", "LC_ALL=C.UTF-8 TERM=xterm", served)
                #expect(coloured.contains("\u{1B}["), "\(coloured)")
            }
        }

        @Test(.enabled(if: hasScript)) func `a locale without UTF-8 gets ASCII`() async throws {
            try await withServed(app: "fleet") { served in
                let payload = #"{"host":"web-1","sample":\#(Self.sample)}"#
                let sent = try await Tool.send.run(served.upstream + ["HostSampled", payload])
                #expect(sent.exitCode == 0, "\(sent)")
                let board = "statecast-replica --once"
                let plain = try await shown(board, "-u LC_ALL -u LC_CTYPE LANG=C TERM=xterm", served)
                #expect(plain.utf8.allSatisfy { $0 < 0x80 }, "\(plain)")
                #expect(plain.contains("####....  50%"), "\(plain)")
                #expect(try await shown(board, "LC_ALL=C.UTF-8 TERM=xterm", served).contains("████░░░░  50%"))
            }
        }
    #endif

    // MARK: Rights

    @Test func `a journal without read permission is not reported as missing`() async throws {
        let folder = try Folder()
        let closed = folder.path + "/closed"
        try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: false)
        try await withServed(["--journal", closed + "/journal"]) { _ in }
        chmod(folder.path, 0o755)
        chmod(closed, 0)
        defer { chmod(closed, 0o700) }
        // Root can read every file.
        let setpriv = Tool(name: "/usr/bin/setpriv")
        let rights = ["--reuid", "65534", "--regid", "65534", "--clear-groups", Tool.journal.location]
        for command in [["info"], ["verify"], ["salvage"]] {
            let arguments = command + [closed + "/journal"] + (command == ["salvage"] ? [folder.path + "/saved"] : [])
            let ending =
                geteuid() == 0 ? try await setpriv.run(rights + arguments) : try await Tool.journal.run(arguments)
            #expect(ending.exitCode == 1, "\(ending)")
            #expect(ending.errors.contains("cannot read the journal \(closed)/journal: Permission denied"), "\(ending)")
        }
    }

    // MARK: Bytes that are not UTF-8

    @Test(arguments: [
        (#"statecast-primary --journal "$path""#, "argument 2"),
        (#"STATECAST_JOURNAL="$path" statecast-primary"#, "the variable STATECAST_JOURNAL"),
        (#"env -u STATECAST_JOURNAL HOME="$path" statecast-primary"#, "the variable HOME"),
        (#"statecast-primary --config "$path""#, "argument 2"), (#"statecast-primary --keys="$path""#, "argument 1"),
        (#"STATECAST_CONFIG="$path" statecast-replica"#, "the variable STATECAST_CONFIG"),
        (#"statecast-send --ndjson --session "$path""#, "argument 3"), (#"statecast-send A @"$path""#, "argument 2"),
        (#"statecast-journal info "$path""#, "argument 2"), (#"statecast-journal backup . "$path""#, "argument 3"),
        (#"statecast-keys generate "$path""#, "argument 2"), (#"fleet-agent --keys "$path""#, "argument 2"),
        (#"statecast-replica --select "$path""#, "argument 2"),
    ]) func `a path that is not UTF-8 is refused, and not mistaken for another one`(command: String, place: String)
        async throws
    {
        let folder = try Folder()
        let script = #"path='\#(folder.path)/'$(printf '\377'); \#(command)"#
        let ending = try await Tool.shell(script, from: "tcp://127.0.0.1:9")
        #expect(ending.exitCode == 64, "\(ending)")
        #expect(ending.errors.contains("expected UTF-8, got other bytes in \(place)"), "\(ending.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    // MARK: Completions

    @Test(arguments: [
        (Tool.primary, [["fleet", "counter"], ["full", "normal"]]), (.journal, []),
        (.send, []), (.replica, []), (.agent, []),
    ]) func `completions know the values of options with some words`(tool: Tool, words: [[String]]) async throws {
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        for shell in ["bash", "zsh", "fish"] {
            let script = try await tool.run(["--generate-completion-script", shell]).output.joined(separator: "\n")
            for words in words + [levels] {
                let lists = [" ", "' '", #"'$'\n''"#].map { words.joined(separator: $0) }
                #expect(lists.contains { script.contains($0) }, "\(shell): \(words)")
            }
        }
    }

    // MARK: Exit codes

    @Test func `a journal of another store has an exit code of its own`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        try await withServed(["--journal", journal]) { _ in }
        let ports = ["--publish", anyPort, "--actions", anyPort]
        let other = try await Tool.primary.run(["--app", "fleet", "--journal", journal] + ports)
        #expect(other.exitCode == 78, "\(other)")
        #expect(other.errors.contains(#"holds the store "counter", not "fleet""#), "\(other)")
    }

    @Test(arguments: [Tool.primary, .replica, .send, .journal, .agent])
    func `each executable prints its version`(tool: Tool) async throws {
        let ending = try await tool.run(["--version"])
        #expect(ending.exitCode == 0, "\(ending)")
        #expect(ending.output.count == 1)
        #expect(ending.output.first?.hasPrefix(tool.name + " 0.2.0-beta, protocol version 2") == true, "\(ending)")
    }

    @Test func `a negative value is refused`() async throws {
        for (tool, arguments) in [
            (Tool.send, ["--timeout", "-1", "X"]), (.agent, ["--interval", "-1"]),
            (.primary, ["--history-bytes", "-1"]), (.primary, ["--high-water-mark", "-1"]),
            (.primary, ["--busy-polling-max", "-1"]), (.replica, ["--busy-polling-max", "-1"]),
        ] {
            let ending = try await tool.run(arguments)
            #expect(ending.exitCode == 64)
            #expect(ending.errors.contains("-1 is out of range"), "\(ending.errors)")
        }
        for arguments in [["state", "--at", "-1", "x"], ["actions", "--from", "-1", "x"]] {
            let ending = try await Tool.journal.run(arguments)
            #expect(ending.exitCode == 64)
            #expect(ending.errors.contains("The value '-1' is invalid"), "\(ending.errors)")
        }
    }

    @Test func `an unknown subcommand is refused with a suggestion`() async throws {
        let ending = try await Tool.journal.run(["verfiy", "x"])
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains(#"There is no subcommand "verfiy": did you mean verify?"#), "\(ending.errors)")
        let help = try await Tool.journal.run(["--help"])
        #expect(help.exitCode == 0)
        #expect(help.output.contains("CHECKING SUBCOMMANDS:"), "\(help.output)")
    }

    @Test func `the help of statecast-journal names its own exit codes, and no signals`() async throws {
        let salvage = try await Tool.journal.run(["salvage", "--help"]).output.joined(separator: " ")
        #expect(salvage.contains("Flags win over the environment"), "\(salvage)")
        #expect(!salvage.contains("SIGINT"), "\(salvage)")
        let verify = try await Tool.journal.run(["verify", "--help"]).output.joined(separator: " ")
        #expect(verify.contains("65"), "\(verify)")
    }

    @Test func `an unknown STATECAST_ variable is ignored, with a warning and a suggestion`() async throws {
        try await withServed { served in
            let command = ["STATECAST_STROE=counter", Tool.replica.location] + served.upstream + ["--once"]
            let ending = try await Tool(name: "/usr/bin/env").run(command)
            #expect(ending.exitCode == 0, "\(ending)")
            let warning = "the variable STATECAST_STROE is not a setting and is ignored: did you mean STATECAST_STORE?"
            #expect(ending.errors.contains(warning), "\(ending.errors)")
        }
    }
}
