import Foundation
import Testing

/// `statecast`, and `statecast top`.
@Suite(.timeLimit(.minutes(10))) struct TopTests {
    private struct List: Decodable {
        struct State: Decodable {
            struct Peer: Decodable {
                let kind: String
                let name: String
                let address: String?
                let lag: Int?
            }

            let peers: [String: Peer]
            let revision: Int
            let actionsPerSecond: Double?
        }

        let state: State
    }

    /// What docs/OPERATING.md shows.
    private static var documented: [String] {
        get throws {
            let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
            let text = try String(contentsOf: root.appending(path: "docs/OPERATING.md"), encoding: .utf8)
            let block = text.components(separatedBy: "$ statecast top --store counter --once\n").last ?? ""
            return block.components(separatedBy: "```")[0].split(separator: "\n").map(String.init)
        }
    }

    /// A line without its numbers.
    private static func shape(_ line: String) -> String {
        line.replacing(#/[0-9]+/#, with: "0").replacing(#/ +/#, with: " ")
    }

    @Test func `top shows the replicas and senders of a store, as JSON and as a table`() async throws {
        let folder = try Folder()
        try await withServed(["--journal", "\(folder.path)/journal"]) { served in
            let following = served.upstream + ["--json", "--name", "kiosk-1"]
            try await Tool.replica.runningValue(following) { replica in
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                #expect(sent.exitCode == 0, "\(sent)")
                _ = try await replica.line { $0.contains(#""revision":1,"#) }
                let listed = try await Tool.statecast.runningValue(["top"] + served.upstream + ["--json"]) { top in
                    let line = try await top.line { $0.contains(#""lag":0"#) && $0.contains("actionsPerSecond") }
                    return try JSONDecoder().decode(List.self, from: Data(line.utf8)).state
                }
                let peer = try #require(listed.peers.values.first { $0.name == "kiosk-1" })
                #expect(listed.revision == 1 && peer.kind == "replica" && peer.address == "127.0.0.1")
                let table = try await Tool.statecast.run(["top"] + served.upstream + ["--once"])
                #expect(table.exitCode == 0, "\(table)")
                #expect(table.output.contains("replicas: 1, senders: 0, by lag"), "\(table)")
                #expect(table.output.map(Self.shape) == (try Self.documented).map(Self.shape), "\(table)")
            }
        }
    }

    @Test func `top says why there is no list`() async throws {
        try await withServed(["--peers", "off"]) { served in
            let top = try await Tool.statecast.run(["top"] + served.upstream + ["--once"])
            #expect(top.exitCode == 1 && top.errors.contains("unless it has --peers off"), "\(top)")
        }
    }

    @Test func `the list of a primary can have an endpoint of its own`() async throws {
        let folder = try Folder()
        let endpoint = "ipc://\(folder.path)/peers"
        try await withServed(["--peers", endpoint]) { served in
            let top = ["top", "--from", endpoint, "--store", served.store, "--once", "--json"]
            let list = try await Tool.statecast.run(top)
            #expect(list.exitCode == 0 && list.output.count == 1, "\(list)")
        }
    }

    @Test(arguments: [Tool.primary, .replica, .send, .journal, .keys, .agent])
    func `the executable is each command, as a subcommand and through a link`(tool: Tool) async throws {
        let version = try await tool.run(["--version"])
        #expect(version.exitCode == 0 && version.output.first?.hasPrefix(tool.name + " ") == true, "\(version)")
        let folder = try Folder()
        let link = "\(folder.path)/\(tool.name)"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Tool.statecast.location)
        let linked = try await Tool(name: link).run(["--help"])
        let help = try await tool.run(["--help"])
        #expect(help.exitCode == 0 && linked.output == help.output)
        let name = tool.name.hasPrefix("statecast-") ? String(tool.name.dropFirst("statecast-".count)) : tool.name
        let subcommand = try await Tool.statecast.run([name, "--version"])
        #expect(subcommand.output == version.output, "\(subcommand)")
    }

    @Test(arguments: [(["journl"], "did you mean journal?"), (["journal", "verfy"], "did you mean verify?")])
    func `a misspelt command gets a hint`(arguments: [String], hint: String) async throws {
        let run = try await Tool.statecast.run(arguments)
        #expect(run.exitCode == 64 && run.errors.contains(hint), "\(run)")
    }
}
