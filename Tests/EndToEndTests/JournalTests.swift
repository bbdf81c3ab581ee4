import Foundation
import Testing

/// Journals of real processes that are stopped or killed.
@Suite(.timeLimit(.minutes(10))) struct `A journal on disk` {
    @Test func `a primary whose journal is removed stops acknowledging, and exits with one line`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let arguments = ["--app", "counter", "--journal", journal, "--publish", anyPort, "--actions", anyPort]
        let (sent, ending) = try await Tool.primary.running(arguments) { tool in
            let served = try await Served(tool)
            let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
            try FileManager.default.removeItem(atPath: journal)
            for await _ in tool.lines {}
            return sent
        }
        #expect(sent.exitCode == 0)
        #expect(ending.signal == nil)
        #expect(ending.exitCode == 65)
        let errors = ending.errors.split(separator: "\n").filter { !$0.contains("notice: ") }
        #expect(errors.count == 1, "\(ending.errors)")
        #expect(errors.first?.contains("the journal \(journal) was removed or replaced while it was in use") == true)
        #expect(!FileManager.default.fileExists(atPath: journal))
    }

    @Test func `a primary logs the revision of its start and of its end`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let arguments = ["--app", "counter", "--journal", journal, "--publish", anyPort, "--actions", anyPort]
        for (start, started) in ["started a new history", "started"].enumerated() {
            let (_, ending) = try await Tool.primary.running(arguments) { tool in
                let served = try await Served(tool)
                _ = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
            }
            #expect(ending.exitCode == 0)
            let lines = ending.errors.split(separator: "\n")
            #expect(lines.contains { $0.contains("notice: \(started) (") && $0.contains("journal=\(journal) ") })
            #expect(lines.contains { $0.contains("notice: stopped (epoch=\(start + 1) revision=\(start + 1) ") })
        }
    }

    /// Whether this user may mount a file system.
    private static let canMount = {
        let unshare = Process()
        unshare.executableURL = URL(filePath: "/usr/bin/unshare")
        unshare.arguments = ["--map-root-user", "--mount", "true"]
        guard (try? unshare.run()) != nil else { return false }
        unshare.waitUntilExit()
        return unshare.terminationStatus == 0
    }()

    @Test(.enabled(if: canMount)) func `on a full disk actions wait, and none is lost`() async throws {
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
            let input = folder.path + ".input"
            try Data(increases(60_000).utf8).write(to: URL(filePath: input))
            defer { try? FileManager.default.removeItem(atPath: input) }
            let script = #"exec "$0" "$@" <'\#(input)' 2>&1"#
            let command = ["-c", script, Tool.send.location] + served.upstream + ["--ndjson", "--json"]
            try await Tool(name: "/bin/sh").runningValue(command) { sender in
                var receipts: [ReceiptLine] = []
                func read(until condition: (String) -> Bool) async throws {
                    for await line in sender.lines {
                        if line.hasPrefix("{") { receipts.append(try ReceiptLine(line)) }
                        if condition(line) { break }
                    }
                }
                _ = try await tool.line { $0.contains("actions are refused until there is") }
                try await read { $0.contains("accepts no actions for now: storage-full: the primary has no room") }
                try FileManager.default.removeItem(atPath: tool.root + folder.path + "/ballast")
                try await read { $0.contains("accepts actions again") }
                try await read { _ in receipts.count == 60_000 }
                #expect(receipts.map(\.revision) == (1...60_000).map { UInt64($0) })
            }
            _ = try await tool.line { $0.contains("there is room in the journal again") }
        }
        #expect(ending.exitCode == 0, "\(ending.errors)")
    }

    #if os(Linux)
        /// A primary acknowledges only durable actions.
        @Test(.enabled(if: BrokenDisk.isAvailable))
        func `a primary with durability full waits for the disk, and exits when the disk fails`() async throws {
            let (disk, folder) = (try BrokenDisk(), try Folder())
            let arguments =
                disk.arguments + [
                    Tool.primary.location, "--app", "counter", "--journal", folder.path + "/journal",
                    "--publish", anyPort, "--actions", anyPort,
                ]
            let ((ports, sending), ending) = try await BrokenDisk.runner.running(arguments) { tool in
                let served = try await Served(tool)
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                #expect(sent.exitCode == 0)
                try disk.breakDown()
                let unsure = Task { try await Tool.send.run(served.upstream + ["--json", "CounterIncreaseRequested"]) }
                for await _ in tool.lines {}
                return (served, unsure)
            }
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains("disk I/O error"), "\(ending.errors)")
            let journal = ["--journal", folder.path + "/journal"]
            try await withServed(journal, publish: ports.publish, actions: ports.actions, isNew: false) { served in
                let receipts = try await sending.value.output.map(ReceiptLine.init)
                #expect(receipts.map(\.status) == ["applied"])
                #expect(receipts.map(\.revision) == [2])
            }
        }

        /// The sync of the log is the only use of the disk here that can fail: a checkpoint needs more records.
        @Test(.enabled(if: BrokenDisk.isAvailable))
        func `a primary with durability normal does not wait for the disk, and exits when a later sync fails`()
            async throws
        {
            let (disk, folder) = (try BrokenDisk(), try Folder())
            let arguments =
                disk.arguments + [
                    Tool.primary.location, "--app", "counter", "--journal", folder.path + "/journal",
                    "--durability", "normal", "--publish", anyPort, "--actions", anyPort,
                ]
            let (_, ending) = try await BrokenDisk.runner.running(arguments) { tool in
                let served = try await Served(tool)
                try disk.breakDown()
                let sent = try await Tool.send.run(served.upstream + ["--json", "CounterIncreaseRequested"])
                #expect(try sent.output.map(ReceiptLine.init).map(\.status) == ["applied"])
                let more = Task {
                    while !Task.isCancelled {
                        _ = try await Tool.send.run(served.upstream + ["--timeout", "1", "CounterIncreaseRequested"])
                    }
                }
                for await _ in tool.lines {}
                more.cancel()
                _ = await more.result
            }
            #expect(ending.exitCode == 1)
            #expect(ending.errors.contains("journal.sqlite-wal: Input/output error"), "\(ending.errors)")
        }
    #endif

    @Test func `Random kills and failing disks lose no action of a journal on disk, and repeat none`() async throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
        let ending = try await Tool(name: "/usr/bin/env").run(
            [root.path + "/scripts/crash-test", Tool.crashTest.location, "--cycles", "5", "--replicas", "1"]
        )
        #expect(ending.exitCode == 0, "\(ending.output) \(ending.errors)")
        #expect(ending.output.last == "nothing lost, nothing doubled")
    }
}

/// The settings of a journal.
@Suite(.timeLimit(.minutes(10))) struct `The settings of a journal` {
    /// Runs a primary whose journal's directory is given by the service manager alone.
    private func served(_ arguments: [String], stateDirectory: String) async throws -> (Served?, Tool.Ending) {
        let environment = ["-u", "STATECAST_JOURNAL", "STATE_DIRECTORY=\(stateDirectory)", Tool.primary.location]
        let ports = ["--app", "counter", "--publish", anyPort, "--actions", anyPort]
        let (served, ending) = try await Tool(name: "/usr/bin/env").running(environment + ports + arguments) {
            try? await Served($0)
        }
        return (served, ending)
    }

    @Test func `the default journal is in the first state directory of the service manager`() async throws {
        let folder = try Folder()
        let (served, ending) = try await served([], stateDirectory: "\(folder.path)/one:\(folder.path)/two")
        #expect(served != nil, "\(ending.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["one"])
        #expect(FileManager.default.fileExists(atPath: folder.path + "/one/counter/journal.sqlite"))
    }

    @Test(arguments: [".", ".."])
    func `a store named . or .. has no default journal`(store: String) async throws {
        let folder = try Folder()
        let (served, ending) = try await served(["--store", store], stateDirectory: folder.path + "/state")
        #expect(served == nil)
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("--journal PATH"), "\(ending.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `the journal keeps the requested history`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let policy = ["--snapshot-records", "1", "--history-bytes", "0"]
        try await withServed(["--journal", journal] + policy) { served in
            // Snapshots are stored concurrently: sends one action at a time until the first records are gone.
            for revision in 1... {
                let sent = try await Tool.send.run(served.upstream + ["CounterIncreaseRequested"])
                try #require(sent.exitCode == 0, "\(sent.errors)")
                let info = try await Tool.journal.run(["info", journal])
                let revisions = try #require(info.output.first { $0.hasPrefix("revisions") })
                if !revisions.contains(" 0 to ") { break }
                try #require(revision < 1000, "\(info.output)")
            }
        }
    }
}
