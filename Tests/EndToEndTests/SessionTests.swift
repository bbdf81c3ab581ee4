import Foundation
import Subprocess
import Testing

/// Senders with a session file that are stopped or killed.
@Suite(.timeLimit(.minutes(10))) struct SessionTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private var session: [String] { ["--session", folder.path + "/session"] }
    private func sending(_ served: Served) -> [String] { sending(served.upstream) }
    private func sending(_ upstream: [String]) -> [String] { upstream + ["--ndjson", "--json"] + session }

    /// Runs the body beside a sender that reads its input from a file.
    private func sending<T: Sendable>(
        _ arguments: [String],
        from input: String,
        _ body: @Sendable (RunningTool) async throws -> T
    ) async throws -> (value: T, ending: Tool.Ending) {
        let script = #"exec "$0" "$@" <'\#(input)'"#
        return try await Tool(name: "/bin/sh").running(["-c", script, Tool.send.location] + arguments, body)
    }

    private func file(_ text: String) throws -> String {
        let path = folder.path + "/input"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    /// Kills a sender after it printed a number of lines, before the end of its input. Returns all lines that it
    /// printed.
    private func killed(_ arguments: [String], after count: Int, input: String) async throws -> [ReceiptLine] {
        let (lines, ending) = try await Tool.send.running(arguments) { tool in
            try await tool.write(input)
            var lines: [ReceiptLine] = []
            for _ in 0..<count { lines.append(try ReceiptLine(try await tool.line { _ in true })) }
            tool.send(SIGKILL)
            for await line in tool.lines { lines.append(try ReceiptLine(line)) }
            return lines
        }
        #expect(ending.signal == SIGKILL)
        return lines
    }

    private func state(of served: Served) async throws -> ReplicaLine {
        let shown = try await Tool.replica.run(served.upstream + ["--json", "--once"])
        return try ReplicaLine(try #require(shown.output.last))
    }

    @Test func `a run without a primary is kept with a message, and resumes`() async throws {
        let away = try AbsentPrimary()
        let kept = try await Tool.send.run(sending(away.upstream) + ["--timeout", "0.5"], input: increases(3))
        #expect(kept.exitCode == 1)
        #expect(kept.output.isEmpty)
        #expect(kept.errors.contains("lines consumed: 3, actions outstanding: 3"))
        #expect(kept.errors.contains("continue with --resume"))

        let forgetful = try await Tool.send.run(sending(away.upstream))
        #expect(forgetful.exitCode == 64)
        #expect(forgetful.errors.contains("lines consumed: 3, actions outstanding: 3"))
        #expect(forgetful.errors.contains("--resume"))

        try await withServed(publish: away.publish, actions: away.actions) { served in
            let other = String(increases(3).dropFirst(20))
            let wrong = try await Tool.send.run(sending(served) + ["--resume"], input: other)
            #expect(wrong.exitCode == 64)
            #expect(wrong.errors.contains("the same input from its start"))

            let more = try await Tool.send.run(sending(served) + ["--resume"], input: increases(5))
            #expect(more.exitCode == 0, "\(more.errors)")
            #expect(try await state(of: served).state.counter == 5)
            // Its work is done: the file can be used for another input.
            let next = try await Tool.send.run(sending(served), input: increases(2))
            #expect(try next.output.map { try ReceiptLine($0).line } == [1, 2])
            #expect(try await state(of: served).state.counter == 7)
        }
    }

    @Test func `malformed lines are printed once, too`() async throws {
        let input = increases(1) + "nonsense\n\n" + #"{"action":"Unknown"}"# + "\n" + increases(1)
        try await withServed { served in
            let sent = try await Tool.send.run(sending(served), input: input)
            #expect(sent.exitCode == 2)
            let lines = try sent.output.map(ReceiptLine.init)
            #expect(lines.map(\.line) == [1, 2, 4, 5])
            #expect(lines.map(\.status) == ["applied", "rejected", "rejected", "applied"])
            let again = try await Tool.send.run(sending(served) + ["--resume"], input: input)
            #expect(again.exitCode == 0)
            #expect(again.output.isEmpty)
        }
    }

    @Test func `a session file in use is refused with the name of its process`() async throws {
        try await withServed { served in
            let input = try OpenInput(in: folder, increases(1))
            _ = try await sending(sending(served), from: input.path) { tool in
                _ = try await tool.line { _ in true }
                let second = try await Tool.send.run(sending(served) + ["--resume"])
                #expect(second.exitCode == 1)
                #expect(second.errors.contains("in use by process \(tool.processIdentifier.value) (statecast-send)"))
                tool.send(SIGINT)
            }
        }
    }

    @Test func `an interrupted run reports its unfinished work`() async throws {
        try await withServed { served in
            let input = try OpenInput(in: folder, increases(2))
            let (_, ending) = try await sending(sending(served), from: input.path) { tool in
                for _ in 0..<2 { _ = try await tool.line { _ in true } }
                tool.send(SIGINT)
            }
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains("interrupted before the input ended"))
            #expect(ending.errors.contains("lines consumed: 2, actions outstanding: 0"))
            let resumed = try await Tool.send.run(sending(served) + ["--resume"], input: increases(3))
            #expect(try resumed.output.map { try ReceiptLine($0).line } == [3])
        }
    }

    @Test func `an interrupted run reports its unfinished work also after a rejection`() async throws {
        try await withServed { served in
            let input = try OpenInput(in: folder, "nonsense\n")
            let (_, ending) = try await sending(sending(served), from: input.path) { tool in
                _ = try await tool.line { _ in true }
                tool.send(SIGINT)
            }
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains("lines consumed: 1, actions outstanding: 0"))
        }
    }

    @Test func `a primary without its history makes outcomes unknown, and the other actions continue`() async throws {
        let input = increases(20_000)
        let (first, printed) = try await withServed { served in
            let lines = try await killed(sending(served), after: 1, input: input)
            served.tool.send(SIGKILL)
            return (served, lines)
        }
        try await withServed(publish: first.publish, actions: first.actions) { served in
            // Without --resume it reports its unfinished work.
            let held = try await Tool.send.run(sending(served)).errors
            let outstanding = try #require(held.firstMatch(of: #/actions outstanding: (\d+)/#)).output.1
            let sent = try await Tool.send.run(sending(served) + ["--resume"], input: input)
            let lines = try sent.output.map(ReceiptLine.init)
            let unknown = lines.filter { $0.code == "outcome-unknown" }
            let applied = lines.filter { $0.revision != nil && $0.line != $0.revision }
            #expect(sent.exitCode == (unknown.isEmpty ? 0 : 3), "\(sent.errors)")
            #expect(unknown.count == Int(outstanding))
            #expect(Set((printed + lines).compactMap(\.line)) == Set(1...20_000), "each is printed at least once")
            #expect(try await state(of: served).state.counter == applied.count)
        }
    }

    @Test func `a full disk loses no action`() async throws {
        let input = try file(increases(20_000))
        try await withServed { served in
            let command = "statecast-send --store counter --ndjson --json --session \(session[1]) < \(input)"
            let full = try await Tool.shell("trap '' XFSZ; ulimit -f 200; " + command, from: served.publish)
            #expect(full.exitCode == 1)
            #expect(full.errors.contains("cannot write the session file"))
            #expect(try full.output.allSatisfy { try ReceiptLine($0).status == "applied" }, "the others come later")
            let sent = try await Tool.send.run(sending(served) + ["--resume"], input: increases(20_000))
            #expect(sent.exitCode == 0, "\(sent.errors)")
            #expect(try await state(of: served).state.counter == 20_000)
        }
    }

    @Test func `outcomes that cannot be printed are kept, with the reason`() async throws {
        let input = try file(increases(20_000))
        let command = "statecast-send --store counter --ndjson --json --session \(session[1]) < \(input)"
        try await withServed { served in
            let full = try await Tool.shell(command + " > /dev/full", from: served.publish)
            #expect(full.exitCode == 1)
            #expect(full.errors.contains("cannot write to standard output: No space left on device"))
            #expect(full.errors.contains("lines consumed: "))
            let closed = try await Tool.shell(
                "{ \(command) --resume; echo \"ended with $?\" >&2; } | head -1",
                from: served.publish
            )
            // Another action may be submitted meanwhile, which is kept, too: the two parts are joined differently.
            #expect(closed.errors.contains(#/standard output is closed[:;] the session file/#))
            #expect(closed.errors.contains("ended with 1"))
            let sent = try await Tool.send.run(sending(served) + ["--resume"], input: increases(20_000))
            #expect(sent.exitCode == 0, "\(sent.errors)")
            #expect(try sent.output.last.map { try ReceiptLine($0).line } == 20_000)
            #expect(try await state(of: served).state.counter == 20_000)
        }
    }

    @Test func `an unknown store loses no action`() async throws {
        try await withServed { served in
            let elsewhere = ["--from", served.publish, "--store", "elsewhere", "--ndjson", "--json"] + session
            let refused = try await Tool.send.run(elsewhere, input: increases(2))
            #expect(refused.exitCode == 1)
            #expect(refused.output.isEmpty)
            #expect(refused.errors.contains(#"there is no store "elsewhere""#))
            #expect(!refused.errors.contains("before the input ended"))
            let other = try await Tool.send.run(sending(served) + ["--resume"])
            #expect(other.errors.contains("belongs to store elsewhere, not counter"))
        }
        try await withServed(["--store", "elsewhere"]) { served in
            let sent = try await Tool.send.run(sending(served) + ["--resume"], input: increases(2))
            #expect(sent.exitCode == 0, "\(sent.errors)")
            #expect(try await state(of: served).state.counter == 2)
        }
    }
}
