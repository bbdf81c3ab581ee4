import ArgumentParser
import CommandLineSupport
import Statecast

@main
struct JournalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "statecast-journal",
        abstract: "Looks into the journal of a store, checks it, and copies it.",
        discussion: """
            PATH is the directory that statecast-primary --journal names. Whatever only reads may be done while a primary \
            runs, and changes nothing.

            Two primaries must never go on with one history: what restore, import and salvage make begins a new lineage. \
            They write to a directory that does not exist yet, or is empty.

            Exit codes: 0 done, 64 wrong usage, 65 the journal is damaged, 78 it is of another store or build, or a copy that \
            was interrupted, 1 different, or not to be done.
            """,
        version: Release.line(of: "statecast-journal"),
        groupedSubcommands: [
            CommandGroup(
                name: "Looking",
                subcommands: [InfoCommand.self, ActionsCommand.self, StateCommand.self, DiffCommand.self]
            ),
            CommandGroup(name: "Checking", subcommands: [VerifyCommand.self, ReplayCommand.self]),
            CommandGroup(
                name: "Copying",
                subcommands: [
                    BackupCommand.self, RestoreCommand.self, ExportCommand.self, ImportCommand.self,
                    SalvageCommand.self,
                ]
            ),
        ]
    )

    /// argument-parser reports an unknown subcommand only as an unexpected argument.
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if let message = message(forUnknown: arguments.first) { exit(withError: ValidationError(message)) }
        await main(arguments)
    }

    private static func message(forUnknown word: String?) -> String? {
        let known = configuration.subcommands.compactMap { $0.configuration.commandName }
        guard let word, !word.hasPrefix("-"), word != "help", !known.contains(word) else { return nil }
        let hint =
            word.nearest(among: known).map { "did you mean \($0)?" } ?? "there are \(known.joined(separator: ", "))."
        return "There is no subcommand \"\(VisibleText.line(word))\": \(hint)"
    }
}

/// Which journal.
struct JournalArgument: ParsableArguments {
    @Argument(help: "The journal's directory.")
    var path: String
}
