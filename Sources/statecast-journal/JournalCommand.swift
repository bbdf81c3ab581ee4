import ArgumentParser

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

            Exit codes: 0 done, 1 damaged, different, or not to be done, 64 wrong usage.
            """,
        groupedSubcommands: [
            CommandGroup(
                name: "Looking:",
                subcommands: [InfoCommand.self, ActionsCommand.self, StateCommand.self, DiffCommand.self]
            ),
            CommandGroup(name: "Checking:", subcommands: [VerifyCommand.self, ReplayCommand.self]),
            CommandGroup(
                name: "Copying:",
                subcommands: [
                    BackupCommand.self, RestoreCommand.self, ExportCommand.self, ImportCommand.self,
                    SalvageCommand.self,
                ]
            ),
        ]
    )
}

/// Which journal.
struct JournalArgument: ParsableArguments {
    @Argument(help: "The journal's directory.")
    var path: String
}
