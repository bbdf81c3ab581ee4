import ArgumentParser
import CommandLineSupport
import SQLiteJournal
import StateCoding
import StateJSON
import Statecast

struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Prints what changed from one revision to another, as a JSON Patch (RFC 6902).",
        discussion: """
            {"from":12,"to":20,"patch":[...]}

            States are recorded for each batch of actions: each is the last one at or before its revision, which it names.
            """
    )

    @Option(parsing: .unconditional, help: ArgumentHelp("From which revision.", valueName: "revision"))
    var from: UInt64

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("To which revision; it may be the earlier one.", valueName: "revision")
    )
    var to: UInt64

    @OptionGroup var journal: JournalArgument

    func run() async throws {
        try await reportingFailures {
            let reader = try JournalReader(at: journal.path)
            let earlier = try reader.walk(to: Revision(min(from, to)))
            var later = earlier
            try reader.walkOn(&later, to: Revision(max(from, to)))
            let (start, end) = from <= to ? (earlier, later) : (later, earlier)
            let line = JSONLine([
                "from": Value(start.place.revision.rawValue), "to": Value(end.place.revision.rawValue),
                "patch": try Patch(from: start.tree, to: end.tree).jsonPatch(from: start.tree),
            ])
            try await LineOutput().write(line.description)
        }
    }
}
