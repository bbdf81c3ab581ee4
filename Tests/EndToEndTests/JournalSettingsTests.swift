import Foundation
import Testing

/// Where a primary keeps its journal, and how much of it.
@Suite(.timeLimit(.minutes(10))) struct `The settings of a journal` {
    /// Runs a primary that is told nothing of its journal but where the service manager wants it.
    private func served(_ arguments: [String], stateDirectory: String) async throws -> (Served?, Tool.Ending) {
        let environment = ["-u", "STATECAST_JOURNAL", "STATE_DIRECTORY=\(stateDirectory)", Tool.primary.location]
        let ports = ["--app", "counter", "--publish", anyPort, "--actions", anyPort]
        let (served, ending) = try await Tool(name: "/usr/bin/env").running(environment + ports + arguments) {
            try? await Served($0)
        }
        return (served, ending)
    }

    @Test func `a journal is made in the first directory that the service manager gives`() async throws {
        let folder = try Folder()
        let (served, ending) = try await served([], stateDirectory: "\(folder.path)/one:\(folder.path)/two")
        #expect(served != nil, "\(ending.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["one"])
        #expect(FileManager.default.fileExists(atPath: folder.path + "/one/counter/journal.sqlite"))
    }

    @Test(arguments: [".", ".."])
    func `a journal is in no directory but its own, whatever the store is called`(store: String) async throws {
        let folder = try Folder()
        let (served, ending) = try await served(["--store", store], stateDirectory: folder.path + "/state")
        #expect(served == nil)
        #expect(ending.exitCode == 64)
        #expect(ending.errors.contains("--journal PATH"), "\(ending.errors)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func `as much history is kept as was asked for`() async throws {
        let folder = try Folder()
        let journal = folder.path + "/journal"
        let policy = ["--snapshot-records", "1", "--history-bytes", "0"]
        try await withServed(["--journal", journal] + policy) { served in
            // Snapshots are stored beside the flow: one more action at a time until the first records are gone.
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
