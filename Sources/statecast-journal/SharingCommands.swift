import ArgumentParser
import Statecast
import StatecastCommandLine
import StatecastJournal
import StatecastPostgres
import StatecastProtocol

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates a store in a PostgreSQL database, for nodes that take over from each other.",
        discussion: """
            It makes the tables of the schema statecast if they are missing. The first node begins the history. A node \
            creates nothing by itself: an empty database may be the wrong one.
            """
    )

    @Argument(
        help: "The database: postgresql://HOST/DATABASE, without a password (passfile=PATH names a file with it)."
    )
    var uri: String

    @Argument(help: "The store's name.")
    var store: String

    func run() async throws {
        try await reportingFailures {
            var generator = SystemRandomNumberGenerator()
            let identity = JournalIdentity(
                store: try StoreName(store),
                lineage: Lineage(using: &generator),
                begun: .now
            )
            try PostgresDatabase(uri).create(identity)
            try await LineOutput().write(
                VisibleText.line("created store=\(identity.store) lineage=\(identity.lineage) database=\(uri)")
            )
        }
    }
}
