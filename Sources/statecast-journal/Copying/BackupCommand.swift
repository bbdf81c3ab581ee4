import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import Statecast

struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Copies a journal as it is now, also while a primary writes it.",
        discussion: """
            All that only reads works on the copy as on the journal itself. A primary refuses it: restore makes a journal of \
            it.
            """
    )

    @OptionGroup var journal: JournalArgument

    @Argument(help: "Where to: a directory that does not exist, or is empty.")
    var to: String

    func run() async throws {
        try await reportingFailures {
            let copy = try JournalReader(at: journal.path).backup(to: to)
            try await LineOutput().write(copy.line("backup", at: to))
        }
    }
}

extension JournalCopy {
    /// What was made, and where, for people and scripts.
    func line(_ word: String, at path: String) -> String {
        VisibleText.line(
            "\(word) store=\(identity.store) lineage=\(identity.lineage) from=\(from.revision) to=\(to.revision) path=\(path)"
        )
    }
}
