import Foundation
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Executables with keys` {
    private let folder: Folder
    private var access: String { "\(folder.path)/access" }

    init() throws { folder = try Folder() }

    /// A key file and its public key.
    private struct Keys {
        let file: String
        let key: String

        init(_ name: String, in folder: Folder) async throws {
            file = "\(folder.path)/\(name).key"
            key = try #require(try await Tool.keys.run(["generate", file]).output.first)
        }

        /// The options of a tool that connects to a primary.
        func options(_ primary: Keys) -> [String] { ["--keys", file, "--primary-key", primary.key] }
    }

    private func permit(_ lines: String...) throws {
        try Data(lines.map { $0 + "\n" }.joined().utf8).write(to: URL(filePath: access), options: .atomic)
    }

    /// Runs the body beside a primary whose log is on its standard output.
    private func withPrimary<T: Sendable>(
        _ keys: Keys,
        _ body: @Sendable (Served) async throws -> T
    ) async throws -> (value: T, ending: Tool.Ending) {
        let endpoints = ["--publish", anyPort, "--actions", anyPort, "--receipts", anyPort]
        let arguments = ["--app", "counter", "--keys", keys.file, "--access", access] + endpoints
        return try await Tool(name: "/bin/sh")
            .running(["-c", #"exec "$0" "$@" 2>&1"#, Tool.primary.location] + arguments) { tool in
                try await body(try await Served(tool))
            }
    }

    @Test func `Executables with keys follow and send if the list permits it; SIGHUP reads the list`() async throws {
        let primary = try await Keys("primary", in: folder)
        let (board, agent) = (try await Keys("board", in: folder), try await Keys("agent", in: folder))
        try permit("\(agent.key) agent send=counter/*")
        let (_, ending) = try await withPrimary(primary) { served in
            let receipts = try #require(served.receipts)
            let sending = ["--from", receipts, "--store", "counter", "CounterIncreaseRequested"]
            let sent = try await Tool.send.run(sending + agent.options(primary))
            #expect(sent.exitCode == 0, "\(sent)")
            let following = served.upstream + ["--once", "--json"] + board.options(primary)
            let line = try await Tool.replica.runningValue(following) { replica in
                _ = try await served.tool.line { $0.contains("a connection was refused") && $0.contains(board.key) }
                try permit("\(agent.key) agent send=counter/*", "\(board.key) board follow=counter")
                served.tool.send(SIGHUP)
                return try await replica.line { _ in true }
            }
            #expect(try ReplicaLine(line).state.counter == 1)
            let strayed = try await Tool.send.run(
                ["--from", served.publish, "--store", "counter", "CounterIncreaseRequested"] + board.options(primary)
            )
            #expect(strayed.exitCode == 1, "\(strayed)")
            #expect(strayed.errors.contains("connects to the one for receipts"), "\(strayed.errors)")
        }
        #expect(ending.exitCode == 0, "\(ending)")
    }

    @Test func `Executables with keys name the file and the line that is wrong`() async throws {
        let primary = try await Keys("primary", in: folder)
        try permit("# who may do what", "wrong agent send=*/*")
        let run = try await Tool.primary.run(["--app", "counter", "--keys", primary.file, "--access", access])
        #expect(run.exitCode == 64, "\(run)")
        #expect(run.errors.contains("the access list \(access) is not used: line 2:"), "\(run.errors)")
    }

    @Test func `Executables with keys refuse settings that do not fit together`() async throws {
        let keys = try await Keys("node", in: folder)
        let cases: [(Tool, [String], String)] = [
            (.primary, ["--keys", keys.file], "--keys needs --access"),
            (.primary, ["--access", access], "--access needs --keys"),
            (.replica, ["--keys", keys.file], "--keys needs --primary-key"),
            (.replica, ["--primary-key", keys.key], "--primary-key needs --keys"),
            (.replica, ["--keys", keys.file, "--primary-key", "short"], "40 characters"),
            (.replica, ["--keys", keys.file, "--primary-key", "-1"], "40 characters"),
            (.send, ["--keys", keys.file, "--primary-key", keys.key, "--insecure", "--ping"], "leave out --insecure"),
        ]
        for (tool, arguments, message) in cases {
            let run = try await tool.run(arguments)
            #expect(run.exitCode == 64, "\(arguments): \(run)")
            #expect(run.errors.contains(message), "\(arguments): \(run.errors)")
        }
    }
}
