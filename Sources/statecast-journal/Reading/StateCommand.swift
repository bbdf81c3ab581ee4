import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import StateCoding
import Statecast

struct StateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Prints the state as it was at a revision.",
        discussion: """
            {"revision":12,"state":{...}}

            States are recorded for each batch of actions: it is the last one at or before that revision, which it names.
            """
    )

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Which revision. (default: the last one)", valueName: "revision")
    )
    var at: UInt64?

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let walk = try JournalReader(at: journal.path).walk(to: Revision(at ?? .max))
            let line = JSONLine(["revision": Value(walk.place.revision.rawValue), "state": walk.tree])
            try await LineOutput().write(line.description)
        }
    }
}
