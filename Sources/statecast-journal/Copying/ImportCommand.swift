import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import Statecast

struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Makes a journal of what export wrote, read from standard input, under a new lineage."
    )

    @Argument(help: "Where to: a directory that does not exist, or is empty.")
    var to: String

    func run() async throws {
        try await reportingFailures {
            let copy = try JournalArchive.import(to: to, begun: .now) { try InputLines.readChunk().get() }
            try await LineOutput().write(copy.line("journal", at: to))
        }
    }
}
