import Foundation
import PostgresCluster
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Nodes that share a database` {
    private let folder: Folder
    private let server: PostgresServer

    init() throws { (folder, server) = (try Folder(), try PostgresServer()) }

    private func endpoint(_ node: String) -> String { "ipc://\(folder.path)/\(node)" }
    private var upstream: [String] { ["--from", "\(endpoint("a")),\(endpoint("b"))", "--store", "counter"] }

    /// Runs a node, which has a state folder of its own, as on a machine of its own. The lease is long, since a busy
    /// machine may stop a node for seconds: the end of a process is noticed earlier.
    private func withNode<T: Sendable>(
        _ node: String,
        _ body: @Sendable (RunningTool) async throws -> T
    ) async throws -> (value: T, ending: Tool.Ending) {
        let options = ["--app", "counter", "--journal", server.uri, "--lease", "60s"]
        let endpoints = ["--publish", endpoint(node), "--actions", endpoint("\(node)-actions")]
        let start = ["XDG_STATE_HOME=\(folder.path)/\(node)-state", Tool.primary.location]
        return try await Tool(name: "/usr/bin/env").running(start + options + endpoints, body)
    }

    private struct Status: Decodable {
        struct Standby: Decodable { let head: Int }
        let condition: String
        let leader: String?
        let head: Int
        let standbys: [Standby]
    }

    private func status() async throws -> Status {
        let ending = try await Tool.journal.run(["status", "--json", server.uri])
        return try JSONDecoder().decode(Status.self, from: Data(try #require(ending.output.first, "\(ending)").utf8))
    }

    private static let action = #"{"action":"CounterIncreaseRequested"}"# + "\n"

    @Test func `Nodes that share a database take over when the leader is killed, and a sender goes on`() async throws {
        let created = try await Tool.journal.run(["create", server.uri, "counter"])
        #expect(created.exitCode == 0, "\(created)")
        _ = try await withNode("a") { first in
            #expect(try await Served(first).epoch == "1")
            let (_, ending) = try await withNode("b") { second in
                while try await status().standbys.isEmpty {}
                try await Tool.replica.runningValue(upstream + ["--json", "--name", "kiosk"]) { replica in
                    try await Tool.send.runningValue(upstream + ["--ndjson", "--json"]) { sender in
                        try await sender.write(Self.action)
                        #expect(try await sender.line { _ in true }.contains(#""revision":1"#))
                        _ = try await replica.line { $0.contains(#""revision":1"#) }
                        first.send(SIGKILL)
                        try await sender.write(Self.action)
                        #expect(try await sender.line { _ in true }.contains(#""revision":2"#))
                        try await sender.finishInput()
                    }
                    // The new leader lists the peers of the old one.
                    try await Tool.statecast.runningValue(["top"] + upstream + ["--json"]) { top in
                        _ = try await top.line { $0.contains(#""name":"kiosk""#) && $0.contains(#""lag":0"#) }
                    }
                }
                #expect(try await Served(second).epoch == "2")
                let moved = try await Tool.journal.run(
                    ["move", server.uri, "\(folder.path)/elsewhere", "--store", "counter"]
                )
                #expect(moved.exitCode != 0 && moved.errors.contains("stop all nodes"), "\(moved)")
                let status = try await status()
                #expect(status.condition == "led" && status.leader == endpoint("b-actions") && status.head == 2)
            }
            #expect(ending.exitCode == 0, "\(ending)")
        }
        #expect(try await status().condition == "resigned")
    }

    @Test func `The example in docs/FAILOVER.md shows that the second node goes on`() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let text = try String(contentsOf: root.appending(path: "docs/FAILOVER.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## Try it\n").dropFirst().first)
        var script = try #require(section.components(separatedBy: "```sh\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        for port in ["5433", "5434", "7100", "7101", "7200", "7201"] {
            script = script.replacingOccurrences(of: port, with: "\(try PostgresServer.freePort())")
        }
        let work = "/tmp/statecast-try-\(UUID().uuidString)"
        let tools = URL(filePath: Tool.primary.location).deletingLastPathComponent().path
        let frame = """
            set -e
            mkdir \(work) && chmod 777 \(work) && cd \(work)
            \(try PostgresServer.shellFunctions())
            stop() { for data in db1 db2; do pg_ctl --pgdata=$data --mode=immediate stop; done; }
            trap 'kill %2; stop; rm -rf \(work)' EXIT
            export PATH=\(tools):$PATH
            unset STATECAST_JOURNAL
            export STATECAST_LEASE=60s
            umask 0
            """
        let ending = try await Tool(name: "/bin/bash").run(["-c", frame + "\n" + script])
        let applied = ending.output.filter { $0.hasPrefix("applied") }
        #expect(applied.count == 2 && applied.last?.contains("revision 2") == true, "\(ending)")
        #expect(ending.output.contains { $0.hasPrefix("store=counter led") }, "\(ending)")
    }

    @Test func `A journal moves to a database and back, and goes on there`() async throws {
        func sendOne(_ journal: String) async throws {
            let options = ["--app", "counter", "--journal", journal, "--publish", anyPort, "--actions", anyPort]
            let start = ["XDG_STATE_HOME=\(folder.path)/state", Tool.primary.location]
            try await Tool(name: "/usr/bin/env").runningValue(start + options) { primary in
                let served = try await Served(primary)
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                #expect(sent.exitCode == 0, "\(sent)")
            }
        }
        func move(_ arguments: String...) async throws {
            let ending = try await Tool.journal.run(["move"] + arguments)
            #expect(ending.exitCode == 0, "\(ending)")
        }
        let (before, after) = ("\(folder.path)/before", "\(folder.path)/after")
        try await sendOne(before)
        try await move(before, server.uri)
        let refused = try await Tool.primary.run(
            ["--app", "counter", "--journal", before, "--publish", anyPort, "--actions", anyPort]
        )
        #expect(refused.exitCode == 78 && refused.errors.contains("was moved"), "\(refused)")
        try await sendOne(server.uri)
        // Two places must never continue one history.
        #expect(try await Tool.journal.run(["move", before, server.uri]).exitCode == 78)
        // The last step of a move fails, and the command is repeated.
        try server.sql(
            """
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'lost'; END $$;
            CREATE TRIGGER refuse BEFORE UPDATE ON statecast.store FOR EACH ROW WHEN (NEW.moved LIKE 'moved to %')
              EXECUTE FUNCTION refuse();
            """
        )
        let interrupted = try await Tool.journal.run(["move", server.uri, after, "--store", "counter"])
        #expect(interrupted.exitCode != 0)
        try server.sql("DROP FUNCTION refuse CASCADE")
        try await move(server.uri, after, "--store", "counter")
        let again = try await Tool.journal.run(["move", server.uri, "\(folder.path)/other", "--store", "counter"])
        #expect(again.exitCode == 78 && again.errors.contains("is elsewhere"), "\(again)")
        #expect(try await status().condition == "moved")
        try await sendOne(after)
        // A backup of the database, where the store is still there and may have gone on.
        try server.sql("UPDATE statecast.store SET moved = NULL")
        let present = try await Tool.journal.run(["move", after, server.uri])
        #expect(present.exitCode == 78 && present.errors.contains("already"), "\(present)")
        let verified = try await Tool.journal.run(["verify", after])
        #expect(verified.output == ["whole: revisions 0 to 3, snapshots: 3"], "\(verified)")
        let state = try await Tool.journal.run(["state", after])
        #expect(state.output.first?.contains(#""counter":3"#) == true, "\(state)")
    }
}
