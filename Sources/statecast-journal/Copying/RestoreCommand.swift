import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import Statecast

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Makes a journal of a backup, under a new lineage.",
        discussion: "Replicas and senders notice the new lineage, and go on."
    )

    @Argument(help: "The backup's directory.")
    var backup: String

    @Argument(help: "Where to: a directory that does not exist, or is empty.")
    var to: String

    func run() async throws {
        try await reportingFailures {
            let copy = try JournalReader(at: backup).restore(to: to, begun: .now)
            try await LineOutput().write(copy.line("journal", at: to))
        }
    }
}
