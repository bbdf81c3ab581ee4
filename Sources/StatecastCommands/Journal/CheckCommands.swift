import ArgumentParser
import Statecast
import StatecastCommandLine
import StatecastSQLite

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Reads a whole journal, and reports whether it is intact.",
        discussion: """
            It checks each record's checksum, its position after the previous one, and the state that it leads to; \
            that the records lead to each snapshot; and that no acknowledged action is missing. Exit code 65 if a \
            check fails, with the last intact revision.
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
                try await output.write(
                    "after that, never acknowledged, dropped by the next start: " + VisibleText.line(tail)
                )
            }
        }
    }
}
