import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct FailureTests {
    @Test func `a rejected action exits with 2 and prints its code`() async throws {
        try await withServed { served in
            let unknown = try await Tool.send.run(served.upstream + ["--json", "CounterResetRequested"])
            #expect(unknown.exitCode == 2)
            let line = try ReceiptLine(try #require(unknown.output.first))
            #expect((line.number, line.status, line.code) == (1, "rejected", "unknown-action"))
            let undecodable = try await Tool.send.run(
                served.upstream + ["--json", "StepChangeRequested", #"{"step":"x"}"#]
            )
            #expect(undecodable.exitCode == 2)
            #expect(try ReceiptLine(try #require(undecodable.output.first)).message?.contains("step") == true)
            #expect(undecodable.output.first?.contains("undecodable") == true)
        }
    }

    @Test func `rejected actions do not affect the other ones`() async throws {
        try await withServed { served in
            let input = increases(1) + #"{"action":"Nonsense"}"# + "\n" + "not json\n" + increases(1)
            let ending = try await Tool.send.run(served.upstream + ["--ndjson", "--json"], input: input)
            #expect(ending.exitCode == 2)
            let lines = try ending.output.map(ReceiptLine.init)
            #expect(lines.filter { $0.status == "applied" }.map(\.revision) == [1, 2])
            #expect(lines.filter { $0.status == "rejected" }.count == 2)
        }
    }

    @Test(arguments: [
        (Tool.send, [String]()), (.send, ["--timeout", "soon", "X"]), (.send, ["X", "{not json"]),
        (.replica, ["--from", "nonsense"]), (.replica, ["--until", "minus one"]), (.primary, ["--app", "unheard-of"]),
        (.primary, ["--nonsense"]), (.primary, ["--publish", "inproc://x"]), (.primary, ["--high-water-mark", "15"]),
        (.agent, ["--interval", "never"]), (.send, ["--session", "", "X"]), (.send, ["--wait", "--timeout", "1", "X"]),
        (.primary, ["--snapshot-records", "0"]), (.primary, ["--history-bytes", "-1"]),
        (.primary, ["--journal", "postgresq://db1/fleet"]), (.primary, ["--journal", "postgresql://u:word@db1/fleet"]),
    ])
    func `wrong usage ends with 64 and one reason`(_ tool: Tool, _ arguments: [String]) async throws {
        let ending = try await tool.run(arguments)
        #expect(ending.exitCode == 64, "\(ending)")
        #expect(ending.output.isEmpty)
        #expect(ending.errors.contains("Error:"))
    }

    @Test func `a failing output exits with 1, a closed one with 0`() async throws {
        try await withServed { served in
            let command = "statecast-send --store counter CounterIncreaseRequested"
            let full = try await Tool.shell(command + " > /dev/full", from: served.publish)
            #expect(full.exitCode == 1)
            #expect(full.errors.contains("cannot write to standard output: No space left on device"))
            let unread = try await Tool.shell("{ \(command); echo \"ended with $?\" >&2; } | :", from: served.publish)
            #expect(unread.errors == "ended with 0\n")
        }
    }

    @Test func `an input of which a part was not sent because the output was closed ends with 1`() async throws {
        let folder = try Folder()
        try increases(50_000).write(toFile: folder.path + "/input", atomically: true, encoding: .utf8)
        try await withServed { served in
            let command = "statecast-send --store counter --ndjson < \(folder.path)/input"
            let ending = try await Tool.shell(
                "{ \(command); echo \"ended with $?\" >&2; } | head -1",
                from: served.publish
            )
            #expect(ending.output.count == 1)
            #expect(ending.errors.contains("standard output is closed before the input ended"), "\(ending.errors)")
            #expect(ending.errors.hasSuffix("ended with 1\n"), "\(ending.errors)")
        }
    }

    @Test(arguments: [("", "0"), ("--until 1000", "1")])
    func `a replica whose reader stops ends with 0, but with 1 before the state of --until`(
        goal: String,
        code: String
    ) async throws {
        try await withServed { served in
            let replica = "statecast-replica --store counter --json \(goal)"
            // The pipe breaks when the reader takes another input; then states follow.
            let ending = try await Tool.shell(
                """
                { \(replica); echo "ended with $?" >&2; } | {
                    head -1
                    exec < /dev/null
                    for _ in 1 2 3; do statecast-send --store counter CounterIncreaseRequested; done
                }
                """,
                from: served.publish
            )
            #expect(ending.errors.hasSuffix("ended with \(code)\n"), "\(ending)")
            #expect(ending.errors.contains("the state of --once or --until was not printed") == (code == "1"))
        }
    }

    @Test func `a listing whose reader stops ends with 0`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        try await withServed(["--journal", journal, "--durability", "normal"]) { served in
            // More than a pipe holds.
            let more = String(repeating: "x", count: 200)
            let step = #"{"action":"StepChangeRequested","payload":{"step":5,"more":"\#(more)"}}"#
            let sent = try await Tool.send.run(
                served.upstream + ["--ndjson"],
                input: String(repeating: step + "\n", count: 2_000)
            )
            #expect(sent.exitCode == 0, "\(sent.errors)")
            let ending = try await Tool.shell(
                "{ statecast-journal actions \(journal); echo \"ended with $?\" >&2; } | :",
                from: served.publish
            )
            #expect(ending.errors.hasSuffix("ended with 0\n"), "\(ending.errors)")
            let full = try await Tool.shell("statecast-journal actions \(journal) > /dev/full", from: served.publish)
            #expect(full.exitCode == 1)
            #expect(full.errors.contains("No space left on device"), "\(full.errors)")
        }
    }

    @Test(arguments: [(">&-", "output"), ("<&-", "input"), ("<&- >&-", "input")])
    func `a closed standard stream is not replaced by another file`(_ closing: String, _ stream: String) async throws {
        let folder = try Folder()
        let session = folder.path + "/session"
        try await withServed { served in
            let command = "statecast-send --store counter --ndjson --session \(session)"
            let closed = try await Tool.shell(
                #"echo '{"action":"CounterIncreaseRequested"}' | \#(command) \#(closing)"#,
                from: served.publish
            )
            #expect(closed.exitCode == 1)
            #expect(closed.errors.contains("standard \(stream): it is closed"), "\(closed.errors)")
            let resumed = try await Tool.shell("echo | \(command) --resume", from: served.publish)
            #expect(!resumed.errors.contains("damaged"))
        }
    }

    @Test func `an endpoint in use exits with 1 and one line that names it`() async throws {
        try await withServed { served in
            let ending = try await Tool.primary.run(["--app", "counter", "--publish", served.publish])
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains(served.publish))
            #expect(ending.errors.split(separator: "\n").count == 1, "\(ending.errors)")
        }
    }

    @Test func `an ipc endpoint in use is not replaced`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sc-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (publish, actions) = ("ipc://\(folder.path)/p", "ipc://\(folder.path)/a")
        try await withServed(publish: publish, actions: actions) { served in
            let second = try await Tool.primary.run(["--app", "counter", "--publish", publish, "--actions", actions])
            #expect(second.exitCode == 1)
            #expect(second.errors.contains("ipc://"))
            let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
            #expect(sent.exitCode == 0, "\(sent.errors)")
        }
    }

    @Test func `only --insecure binds beyond loopback`() async throws {
        let ending = try await Tool.primary.run(["--publish", "tcp://0.0.0.0:*", "--actions", "tcp://127.0.0.1:*"])
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("--insecure"))
    }

    @Test func `an unknown store exits with 1 and the names of the known ones`() async throws {
        try await withServed { served in
            for ending in [
                try await Tool.send.run(["--from", served.publish, "--store", "conter", "CounterIncreaseRequested"]),
                try await Tool.send.run(["--from", served.publish, "--store", "conter", "--ping"]),
                try await Tool.replica.run(["--from", served.publish, "--store", "conter", "--once"]),
            ] {
                #expect(ending.exitCode == 1)
                #expect(ending.errors.contains("counter"), "\(ending.errors)")
            }
        }
    }

    @Test func `no answer within the timeout exits with 1 and what to check`() async throws {
        let gone = try AbsentPrimary()
        for ending in [
            try await Tool.send.run(gone.upstream + ["--timeout", "0.3", "CounterIncreaseRequested"]),
            try await Tool.replica.run(gone.upstream + ["--timeout", "0.3", "--once"]),
        ] {
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains(gone.publish), "\(ending.errors)")
        }
    }

    @Test func `an endpoint for actions without an answer is named`() async throws {
        let gone = try AbsentPrimary()
        try await withServed(["--advertise-actions", gone.actions]) { served in
            let arguments = served.upstream + ["CounterIncreaseRequested", "--timeout"]
            var ending = try await Tool.send.run(arguments + ["1"])
            for seconds in ["5", "25"] where !ending.errors.contains(gone.actions) {
                // On a busy machine the time limit may expire before the primary answers.
                ending = try await Tool.send.run(arguments + [seconds])
            }
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains(gone.actions), "\(ending.errors)")
        }
    }

    @Test func `an endpoint for actions to which a sender does not connect is named, with the reason`() async throws {
        let folder = try Folder()
        let elsewhere = "tcp://192.0.2.1:7101"
        try await withServed(["--advertise-actions", elsewhere]) { served in
            for options in [[], ["--session", folder.path + "/session"]] {
                let ending = try await Tool.send.run(served.upstream + options + ["CounterIncreaseRequested"])
                #expect(ending.exitCode == 1)
                let last = try #require(ending.errors.split(separator: "\n").last)
                #expect(last.contains(elsewhere) && last.contains("--insecure"), "\(ending.errors)")
                #expect(!last.contains("no primary answered"))
            }
        }
    }

    @Test func `an action without a receipt in time exits with 3, and its session and number`() async throws {
        // Another primary receives the actions, and has no such store.
        try await withServed(app: "fleet") { hole in
            try await withServed(["--advertise-actions", hole.actions]) { served in
                let arguments = served.upstream + ["--json", "CounterIncreaseRequested", "--timeout"]
                var ending = try await Tool.send.run(arguments + ["1"])
                for seconds in ["5", "25"] where ending.exitCode == 1 {
                    // On a busy machine the time limit may expire before an action is sent.
                    ending = try await Tool.send.run(arguments + [seconds])
                }
                #expect(ending.exitCode == 3, "\(ending)")
                #expect(ending.errors.contains("number 1 of session"))
                let receipt = try ReceiptLine(try #require(ending.output.first))
                #expect(receipt.status == "unknown")
                #expect(receipt.number == 1)
            }
        }
    }
}
