import ArgumentParser
import CommandLineSupport
import SQLiteJournal

struct ExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes a journal as it is now to standard output, as one stream of bytes.",
        discussion: "A sequence of CBOR items (RFC 8742), each with its checksum; docs/OPERATING.md says which."
    )

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            guard !Terminal.isTerminal(.standard) else {
                throw CommandFailure.wrongUsage("an archive is nothing for a terminal: send it to a file, with > FILE")
            }
            try JournalArchive.export(JournalReader(at: journal.path), LineOutput.writeNow)
        }
    }
}
