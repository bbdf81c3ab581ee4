import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import Statecast

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads all of a journal, and says whether it is whole.",
        discussion: """
            Each record's checksum, its place behind the one before, and the state that it leads to; each snapshot, and \
            whether the records lead to it; and whether all is there that was acknowledged. Exit code 65 if not, with the \
            first revision that is damaged.
            """
    )

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let found = try JournalReader(at: journal.path).verify()
            let output = LineOutput()
            try await output.write(
                "whole: revisions \(found.from.revision) to \(found.to.revision), snapshots: \(found.snapshotCount)"
            )
            if let tail = found.tail {
                try await output.write("behind that, never acknowledged: a start drops it: " + VisibleText.line(tail))
            }
        }
    }
}
