import Foundation
import Testing

/// The examples of statecast-journal in docs/OPERATING.md.
@Suite(.timeLimit(.minutes(10))) struct `statecast-journal` {
    /// A command and its output.
    private struct Shown {
        let command: String
        var output: [String] = []
    }

    /// The commands of the document's section, in order.
    private static func shown() throws -> [Shown] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let text = try String(contentsOf: root.appending(path: "docs/OPERATING.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Journals\n").dropFirst().first)
            .components(separatedBy: "\n## ")[0]
        var shown: [Shown] = []
        for block in section.components(separatedBy: "```console\n").dropFirst() {
            for line in block.components(separatedBy: "```")[0].split(separator: "\n").map(String.init) {
                if line.hasPrefix("$ ") {
                    shown.append(Shown(command: String(line.dropFirst(2))))
                } else {
                    shown[shown.count - 1].output.append(line)
                }
            }
        }
        return shown
    }

    @Test
    func `statecast-journal prints the output in the document, during and after a run of the primary`() async throws {
        let folder = try Folder()
        let shown = try Self.shown()
        let journal = folder.path + "/counter"
        let stop = try #require(shown.firstIndex { $0.command.hasPrefix("kill") })
        try await withServed(["--journal", journal]) { served in
            // The first command already runs.
            try await Self.run(shown[1..<stop], in: folder, at: served.publish)
            served.tool.send(SIGTERM)
        }
        try await Self.run(shown[(stop + 1)...], in: folder, at: "tcp://127.0.0.1:9")
        #expect(shown.count > 12)
        for command in ["info", "actions", "state", "diff", "blame", "verify", "backup", "restore"] {
            #expect(shown.contains { $0.command.contains("statecast-journal \(command)") }, "\(command)")
        }
        // The new journals can be served and continued.
        for path in ["restored", "salvaged"] {
            let arguments = ["--app", "counter", "--publish", anyPort, "--actions", anyPort]
            try await Tool.primary.runningValue(arguments + ["--journal", "\(folder.path)/\(path)"]) { tool in
                let served = try await Served(tool)
                #expect((served.epoch, served.revision) == ("2", "3"), "\(path)")
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                #expect(sent.exitCode == 0, "\(sent.errors)")
            }
        }
    }

    private static func run(_ commands: ArraySlice<Shown>, in folder: Folder, at endpoint: String) async throws {
        for shown in commands {
            let ending = try await Tool.shell("cd \(folder.path) && exec 2>&1 && \(shown.command)", from: endpoint)
            let isShown =
                ending.output.count == shown.output.count && zip(ending.output, shown.output).allSatisfy(matches)
            #expect(isShown, "\(shown.command): \(ending.output)")
        }
    }

    @Test func `statecast-journal names the first damaged revision, the remedy, and the losses`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        try await withServed(["--journal", journal]) { served in
            for _ in 1...4 {
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                #expect(sent.exitCode == 0, "\(sent.errors)")
            }
            served.tool.send(SIGKILL)
        }
        // One bit of each record in the last commit's page, which SQLite then drops silently. Earlier commits wrote the
        // first three records, too; the fourth is nowhere else.
        let log = URL(filePath: journal + "/journal.sqlite-wal")
        var bytes = try Data(contentsOf: log)
        let actions = bytes.ranges(of: Data("CounterIncreaseRequested".utf8))
        #expect(actions.count > 4)
        for action in actions.suffix(4) { bytes[action.lowerBound] ^= 1 }
        try bytes.write(to: log)
        let verified = try await Tool.journal.run(["verify", journal])
        #expect(verified.exitCode == 65)
        #expect(verified.errors.contains("acknowledged at revision 4"), "\(verified.errors)")
        let refused = try await Tool.primary.run(["--app", "counter", "--journal", journal, "--publish", anyPort])
        #expect(refused.exitCode == 65)
        #expect(refused.errors.contains("statecast-journal salvage \(journal) NEW-DIRECTORY"), "\(refused.errors)")
        let saved = try await Tool.journal.run(["salvage", journal, folder.path + "/saved"])
        #expect(saved.exitCode == 0, "\(saved.errors)")
        #expect(saved.output.first?.contains("to=3") == true, "\(saved.output)")
        #expect(saved.output.last?.contains("lost: revision 4, which was acknowledged") == true, "\(saved.output)")
        let state = try await Tool.journal.run(["state", folder.path + "/saved"])
        #expect(state.output == [#"{"revision":3,"state":{"step":1,"counter":3}}"#])
    }

    @Test func `a time leads to the state that the primary had then`() async throws {
        struct Action: Decodable {
            let revision: UInt64
            let time: String
        }
        let folder = try Folder()
        let journal = folder.path + "/counter"
        try await withServed(["--journal", journal]) { served in
            for step in 1...3 {
                let sent = try await Tool.send.run(served.upstream + ["StepChangeRequested", "step=\(step)"])
                #expect(sent.exitCode == 0, "\(sent)")
            }
        }
        func output(_ arguments: [String]) async throws -> [String] {
            let ending = try await Tool.journal.run([arguments[0], journal] + arguments.dropFirst())
            #expect(ending.exitCode == 0, "\(ending)")
            return ending.output
        }
        let actions = try await output(["actions"]).map { try JSONDecoder().decode(Action.self, from: Data($0.utf8)) }
        #expect(actions.map(\.revision) == [1, 2, 3])
        let (first, second, third) = (actions[0].time, actions[1].time, actions[2].time)
        for (time, revision, step) in [
            (first, 1, 1), (second, 2, 2), (third, 3, 3), ("2999-01-01T00:00:00Z", 3, 3),
            ("1999-12-31T23:59:59+01:00", 0, 1),
        ] {
            let shown = try await output(["state", "--at", time])
            #expect(shown == [#"{"revision":\#(revision),"state":{"step":\#(step),"counter":0}}"#], "\(time)")
        }
        let changes = [#"{"from":1,"to":3,"patch":[{"op":"replace","path":"/step","value":3}]}"#]
        #expect(try await output(["diff", "--from", first, "--to", "3"]) == changes)
        #expect(try await output(["actions", "--from", second, "--to", second]).count == 1)
        #expect(try await output(["actions", "--from", second]).count == 2)
        for arguments in [["state", "--at", "4"], ["diff", "--from", "1", "--to", "4"]] {
            let beyond = try await Tool.journal.run([arguments[0], journal] + arguments.dropFirst())
            #expect(beyond.exitCode == 1 && beyond.output.isEmpty, "\(beyond)")
            #expect(beyond.errors.contains("the journal ends at revision 3, before 4"), "\(beyond)")
        }
        let misspelt = try await Tool.journal.run(["actions", journal, "--name", "StepChangeRequestd"])
        #expect(misspelt.exitCode == 1, "\(misspelt)")
        #expect(misspelt.errors.contains(#"did you mean "StepChangeRequested"?"#), "\(misspelt)")
        let wrong = try await Tool.journal.run(["state", journal, "--at", "yesterday"])
        #expect(wrong.exitCode == 64)
        let reverse = try await Tool.journal.run(["actions", journal, "--from", third, "--to", first])
        #expect(reverse.exitCode == 64)
        #expect(reverse.errors.contains("--from is later than --to"), "\(reverse.errors)")
    }

    @Test func `blame names the actions that last changed a value, or says where it has searched`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/counter"
        try await withServed(["--journal", journal]) { served in
            for action in [
                ["StepChangeRequested", "step=7"], ["CounterIncreaseRequested"], ["StepChangeRequested", "step=8"],
            ] {
                let sent = try await Tool.send.run(served.upstream + action)
                #expect(sent.exitCode == 0, "\(sent)")
            }
        }
        func blame(_ arguments: String...) async throws -> Tool.Ending {
            try await Tool.journal.run(["blame", journal] + arguments)
        }
        func lines(_ arguments: String...) async throws -> [Blamed] {
            let ending = try await Tool.journal.run(["blame", journal, "--json"] + arguments)
            #expect(ending.exitCode == 0, "\(ending)")
            return try ending.output.map { try JSONDecoder().decode(Blamed.self, from: Data($0.utf8)) }
        }
        let last = try await blame("/step")
        #expect(last.exitCode == 0 && last.output.count == 2, "\(last)")
        #expect(last.output.first?.hasPrefix("revision 3  ") == true, "\(last)")
        #expect(last.output.first?.hasSuffix("  set, now 8") == true, "\(last)")
        #expect(
            last.output.last?.hasPrefix(#"  StepChangeRequested {"step":8}  revision 3  session "#) == true,
            "\(last)"
        )
        let steps = try await lines("/step", "--limit", "9")
        #expect(steps.map(\.revision) == [3, 1, nil])
        #expect(steps.map(\.value) == [8, 7, nil])
        #expect(steps.map(\.actions?.first?.action) == ["StepChangeRequested", "StepChangeRequested", nil])
        #expect(steps.map(\.kind) == ["set", "set", nil] && steps.map(\.exact) == [true, true, nil])
        #expect(steps.last == Blamed(searchedTo: 0, complete: true, boundary: "initial"))
        #expect(try await lines("step", "--at", "2").map(\.revision) == [1, nil])
        #expect(try await lines("", "--at", "2").first?.kind == "child")
        let unchanged = try await blame("/counter", "--at", "1")
        #expect(
            unchanged.exitCode == 0 && unchanged.output == ["unchanged since revision 0, with which the store began"]
        )
        let absent = try await blame("/stepp")
        #expect(absent.exitCode == 66 && absent.output.isEmpty, "\(absent)")
        #expect(
            absent.errors == "Error: no change of /stepp from revision 0 to 3, and nothing is there: the state has no "
                + "stepp; did you mean /step?\n"
        )
        let beyond = try await blame("/step", "--at", "4")
        #expect(beyond.exitCode == 1 && beyond.output.isEmpty, "\(beyond)")
        #expect(beyond.errors.contains("the journal ends at revision 3, before 4"), "\(beyond)")
    }

    /// A line of the output of blame.
    private struct Blamed: Decodable, Equatable {
        struct Action: Decodable, Equatable { let action: String }

        var revision: UInt64?
        var kind: String?
        var value: Int?
        var exact: Bool?
        var actions: [Action]?
        var searchedTo: UInt64?
        var complete: Bool?
        var boundary: String?
    }

    @Test func `an empty path is refused`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        try await withServed(["--journal", journal]) { served in served.tool.send(SIGTERM) }
        for arguments in [["info", ""], ["salvage", "", folder.path + "/saved"], ["restore", journal, ""]] {
            let ending = try await Tool.journal.run(arguments)
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains("directory is empty: name a directory"), "\(ending.errors)")
        }
    }

    @Test(arguments: [
        [], ["nonsense"], ["state"], ["state", "--at", "soon", "x"], ["actions", "--sender", "me", "x"], ["diff", "x"],
        ["actions", "--from", "3", "--to", "1", "x"], ["blame", "x"], ["blame", "x", "/a~2"],
        ["blame", "x", "/a", "--limit", "0"],
        ["blame", "postgresql://db/fleet", "/a"],
    ])
    func `wrong usage ends with 64 and one reason`(_ arguments: [String]) async throws {
        let ending = try await Tool.journal.run(arguments)
        // Without a subcommand it prints all of them.
        #expect(ending.exitCode == (arguments.isEmpty ? 0 : 64), "\(ending)")
        #expect(ending.errors.contains("Error:") == !arguments.isEmpty)
    }

    @Test func `a missing journal exits with 1 and one line`() async throws {
        for command in [["info"], ["actions"], ["state"], ["verify"], ["blame", "/step"]] {
            let ending = try await Tool.journal.run([command[0], "/nowhere"] + command.dropFirst())
            #expect(ending.exitCode == 1, "\(command): \(ending)")
            #expect(ending.errors == "Error: there is no journal in /nowhere: it has no journal.sqlite\n")
        }
    }
}
