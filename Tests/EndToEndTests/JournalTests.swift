import Foundation
import Testing

/// What a primary keeps on disk, with real processes and real ends.
@Suite(.timeLimit(.minutes(3))) struct `A journal on disk` {
    @Test func `an action that ends the process is found out, and does not do so for ever`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let ports = try await Tool.poison.runningValue([journal, anyPort, anyPort]) { tool in
            let served = try await Served(tool)
            tool.send(SIGKILL)
            return served
        }
        let sending = Task {
            try await Tool.send.run(
                ports.upstream + ["--ndjson", "--json"],
                input: ["Counted", "Counted", "Poison", "Counted"].map { #"{"action":"\#($0)"}"# + "\n" }.joined()
            )
        }
        for start in 1...2 {
            // It may come to its end before anybody reads its line.
            let ending = try await Tool.poison.run([journal, ports.publish, ports.actions])
            #expect(ending.signal == SIGKILL, "start \(start)")
        }
        try await Tool.poison.runningValue([journal, ports.publish, ports.actions]) { _ in
            let sent = try await sending.value
            let receipts = try sent.output.map(ReceiptLine.init)
            #expect(receipts.map(\.status) == ["applied", "applied", "rejected", "applied"])
            #expect(receipts[2].code == "crashed-reducer")
            #expect(receipts.compactMap(\.revision) == [1, 2, 3])
        }
    }

    /// Whether this user may have a file system of its own.
    private static let canMount = {
        let unshare = Process()
        unshare.executableURL = URL(filePath: "/usr/bin/unshare")
        unshare.arguments = ["--map-root-user", "--mount", "true"]
        guard (try? unshare.run()) != nil else { return false }
        unshare.waitUntilExit()
        return unshare.terminationStatus == 0
    }()

    @Test(.enabled(if: canMount)) func `without room actions wait, and nothing is lost`() async throws {
        let folder = try Folder()
        let script = """
            mount -t tmpfs -o size=24m none '\(folder.path)'
            head -c 24000000 /dev/zero >'\(folder.path)/ballast'
            exec "$0" "$@" 2>&1
            """
        let arguments = [
            "--map-root-user", "--mount", "sh", "-c", script, Tool.primary.location, "--app", "counter", "--journal",
            folder.path + "/journal", "--publish", anyPort, "--actions", anyPort,
        ]
        let (_, ending) = try await Tool(name: "/usr/bin/unshare").running(arguments) { tool in
            let served = try await Served(tool)
            let sent = Task {
                try await Tool.send.run(served.upstream + ["--ndjson", "--json"], input: increases(60_000))
            }
            _ = try await tool.line { $0.contains("actions are refused until there is") }
            try FileManager.default.removeItem(atPath: tool.root + folder.path + "/ballast")
            let receipts = try await sent.value.output.map(ReceiptLine.init)
            #expect(receipts.map(\.revision) == (1...60_000).map { UInt64($0) })
            _ = try await tool.line { $0.contains("there is room in the journal again") }
        }
        #expect(ending.exitCode == 0, "\(ending.errors)")
    }
}
