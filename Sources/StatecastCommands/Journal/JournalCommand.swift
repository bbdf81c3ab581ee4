package import ArgumentParser
import Statecast
import StatecastCommandLine
import StatecastPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

package struct JournalCommand: AsyncParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "statecast-journal",
        abstract: "Inspects, checks and copies the journal of a store.",
        discussion: """
            PATH is the directory that statecast-primary --journal names. Subcommands that only read work while a \
            primary runs, and change nothing.

            Two primaries must never continue one history: restore and salvage make journals with a new lineage. \
            They write to a directory that does not exist yet, or is empty.

            Exit codes: 0 done, 64 wrong usage, 65 the journal is damaged, 66 nothing is at a path, 78 it is of \
            another store or build, or an interrupted copy, 1 failed.
            """,
        version: Release.line(of: "statecast-journal"),
        groupedSubcommands: [
            CommandGroup(
                name: "Inspecting",
                subcommands: [
                    InfoCommand.self, ActionsCommand.self, StateCommand.self, DiffCommand.self, BlameCommand.self,
                ]
            ),
            CommandGroup(name: "Checking", subcommands: [VerifyCommand.self]),
            CommandGroup(
                name: "Copying",
                subcommands: [BackupCommand.self, RestoreCommand.self, SalvageCommand.self]
            ),
            CommandGroup(
                name: "Sharing",
                subcommands: [
                    CreateCommand.self, StatusCommand.self, MoveCommand.self, AcceptLossCommand.self,
                ]
            ),
        ]
    )

    package init() {}
}

struct JournalArgument: ParsableArguments {
    @Argument(help: "The journal's directory.", completion: .directory)
    var path: String

    /// - Throws: ``CommandFailure`` if the journal is in a database: these subcommands read directories.
    func validate() throws {
        guard PostgresDatabase.isURI(path) else { return }
        throw ValidationError(
            "This subcommand reads a directory. For a journal in PostgreSQL, use the database's own tools: pg_dump "
                + "copies it, pg_amcheck checks it."
        )
    }
}

extension Timestamp {
    static var now: Timestamp { Timestamp(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000)) }

    /// In RFC 3339; the milliseconds since 1970 beyond the years that RFC 3339 can represent.
    var text: String {
        guard (Self.firstYear...Self.lastYear).contains(milliseconds) else { return "\(milliseconds)" }
        // The style cuts digits off: a `Double` just below the millisecond would lose one.
        let date = Date(timeIntervalSince1970: (Double(milliseconds) + 0.5) / 1000)
        return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// The years 1 to 9999, in milliseconds since 1970.
    private static let firstYear: Int64 = -62_135_596_800_000
    private static let lastYear: Int64 = 253_402_300_799_999
}
