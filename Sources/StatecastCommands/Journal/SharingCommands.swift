import ArgumentParser
import Statecast
import StatecastCoding
import StatecastCommandLine
import StatecastJSON
import StatecastJournal
import StatecastPostgres
import StatecastProtocol
import StatecastSQLite

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

struct DatabaseArgument: ParsableArguments {
    @Argument(
        help: "The database: postgresql://HOST/DATABASE, without a password (passfile=PATH names a file with it)."
    )
    var uri: String
}

struct CreateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Creates a store in a PostgreSQL database, for nodes that take over from each other.",
        discussion: """
            It makes the tables of the schema statecast if they are missing. The first node begins the history. A node \
            creates nothing by itself: an empty database may be the wrong one.
            """
    )

    @OptionGroup var database: DatabaseArgument

    @Argument(help: "The store's name.")
    var store: String

    func run() async throws {
        try await reportingFailures {
            let identity = try JournalIdentity.new(store)
            try PostgresDatabase(database.uri).create(identity)
            try await LineOutput().write(
                VisibleText.line("created store=\(identity.store) lineage=\(identity.lineage) database=\(database.uri)")
            )
        }
    }
}

extension JournalIdentity {
    fileprivate static func new(_ store: String) throws -> JournalIdentity {
        var generator = SystemRandomNumberGenerator()
        return JournalIdentity(store: try StoreName(store), lineage: Lineage(using: &generator), begun: .now)
    }
}

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Prints who leads each store of a database, and who stands by.",
        discussion: """
            A line for each store. settled is the last record that the leader has reported as durable, head the last \
            one. Nodes that have stood by within the last minute follow, each with the last record that it has read.
            """
    )

    @Flag(help: "Print a line of JSON for each store.")
    var json = false

    @OptionGroup var database: DatabaseArgument

    func run() async throws {
        try await reportingFailures {
            let database = try PostgresDatabase(database.uri)
            let stores = try database.stores()
            let output = LineOutput()
            for ((store, isMoved), row) in zip(stores, try database.leaders(of: stores.map(\.name))) {
                let condition = isMoved ? "moved" : row.condition
                let standbys = try database.standbys(of: store)
                guard !json else {
                    try await output.write(JSONLine(row.fields(of: store, condition, standbys)).description)
                    continue
                }
                for line in row.lines(of: store, condition, standbys) { try await output.write(VisibleText.line(line)) }
            }
        }
    }
}

extension LeaderRow {
    /// What the store's nodes are doing.
    fileprivate var condition: String {
        if mayLackRecords { return "lost-tail" }
        if isResigned { return term == Epoch(0) ? "new" : "resigned" }
        return isConnected ? "led" : "disconnected"
    }

    fileprivate func lines(
        of store: StoreName,
        _ condition: String,
        _ standbys: [PostgresDatabase.Standby]
    ) -> [String] {
        let leader = endpoint.map { " leader=\($0)" } ?? ""
        let durability = isSynchronous ? "full" : "normal"
        return [
            "store=\(store) \(condition)\(leader) term=\(term) settled=\(settled) head=\(head) durability=\(durability)"
        ] + standbys.map { "  standby=\($0.node) head=\($0.head) seen=\($0.age.milliseconds)ms ago" }
    }

    fileprivate func fields(
        of store: StoreName,
        _ condition: String,
        _ standbys: [PostgresDatabase.Standby]
    ) -> [(key: String, value: Value)] {
        [
            ("store", .text("\(store)")), ("condition", .text(condition)),
            ("leader", endpoint.map { .text($0) } ?? .null), ("term", Value(term.rawValue)),
            ("settled", Value(settled.rawValue)), ("head", Value(head.rawValue)),
            ("durability", .text(isSynchronous ? "full" : "normal")),
            (
                "standbys",
                .array(
                    standbys.map {
                        [
                            "node": .text("\($0.node)"), "head": Value($0.head.rawValue),
                            "seenMillisecondsAgo": Value($0.age.milliseconds),
                        ]
                    }
                )
            ),
        ]
    }
}

struct AcceptLossCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept-loss",
        abstract: "Continues a store on a promoted server that may lack acknowledged actions, in a new lineage.",
        discussion: """
            After a promotion, nodes go on by themselves if each commit waited for the promoted server. Otherwise they \
            stand by and report it: the old server may have acknowledged actions that this one lacks. If it is lost, \
            this command lets the nodes continue with what is here. Replicas and senders detect the new lineage.
            """
    )

    @Flag(help: "Also if the database does not know that something is lost.")
    var force = false

    @OptionGroup var database: DatabaseArgument

    @Argument(help: "The store's name.")
    var store: String

    func run() async throws {
        try await reportingFailures {
            let identity = try JournalIdentity.new(store)
            let database = try PostgresDatabase(database.uri)
            try database.acceptLoss(identity, isForced: force)
            let head = try database.leaders(of: [identity.store]).first.map { " head=\($0.head)" } ?? ""
            try await LineOutput().write(
                VisibleText.line("continues store=\(identity.store)\(head) lineage=\(identity.lineage)")
            )
        }
    }
}

struct MoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Moves a journal from a directory to a database, or back.",
        discussion: """
            statecast-journal move /var/lib/statecast/fleet postgresql://db1,db2/fleet
            statecast-journal move postgresql://db1,db2/fleet /var/lib/statecast/fleet --store fleet

            Stop the primary, or all its nodes, before. The lineage stays: replicas and senders go on. The copy is \
            compared with the original; only one of the two can be continued at any time. If the command is \
            interrupted, repeat it with the same arguments.
            """
    )

    @Argument(help: "The journal: a directory or a database.")
    var from: String

    @Argument(help: "The other place: a database, or a directory that does not exist or is empty.")
    var to: String

    @Option(help: "The store's name, if it is in a database.")
    var store: String?

    func validate() throws {
        guard PostgresDatabase.isURI(from) != PostgresDatabase.isURI(to) else {
            throw ValidationError("One place is a directory, the other one postgresql://HOST/DATABASE.")
        }
        guard PostgresDatabase.isURI(to) != (store != nil) else {
            throw ValidationError(
                store == nil ? "Name the store of the database with --store." : "--store is the name in a database."
            )
        }
    }

    func run() async throws {
        try await reportingFailures {
            let copied: (store: StoreName, lineage: Lineage)
            if let store {
                copied = try toDirectory(try StoreName(store))
            } else {
                copied = try toDatabase()
            }
            try await LineOutput().write(
                VisibleText.line("moved store=\(copied.store) lineage=\(copied.lineage) to=\(to)")
            )
        }
    }

    private func toDatabase() throws -> (StoreName, Lineage) {
        let database = try PostgresDatabase(to)
        let place = Self.place(from)
        let identity = try JournalReader(at: from).contents().identity
        try JournalReader.move(
            from,
            to: to,
            copy: { reader, isCompleted throws(JournalFailure) in
                // An earlier move may have been interrupted just before its end, when the copy was released.
                let present = isCompleted ? try? database.contents(of: identity.store, by: nil) : nil
                if present == nil { try database.copy(reader.contents(), from: reader, at: place) }
            },
            release: { () throws(JournalFailure) in try database.release(identity.store) }
        )
        return (identity.store, identity.lineage)
    }

    private func toDirectory(_ store: StoreName) throws -> (StoreName, Lineage) {
        let database = try PostgresDatabase(from)
        let present = try JournalCopy.prepare(at: to, for: store)
        if let row = try database.leaders(of: [store]).first, row.isConnected, !row.isResigned {
            throw JournalFailure(
                .inUse,
                "the store \"\(store)\" is led by \(row.endpoint ?? "a node"), whose connection is open: stop all nodes"
            )
        }
        let place = Self.place(to)
        let contents = try database.withhold(store, for: place)
        // An earlier move may have been interrupted just before its end.
        let isComplete = present.map { $0.identity == contents.identity && $0.last >= contents.last } ?? false
        let source = SharedJournal(database, store: store, crashMarker: CrashMarker())
        do { if !isComplete { _ = try JournalCopy.make(at: to, contents, from: source) } } catch {
            // If this fails, too, the command can be repeated.
            try? database.release(store)
            throw error
        }
        try database.finishMove(store, to: place)
        return (store, contents.identity.lineage)
    }

    /// A path on this machine: shown in messages, and compared when a move is repeated.
    private static func place(_ path: String) -> String {
        "\(ProcessInfo.processInfo.hostName):\(URL(fileURLWithPath: path).path)"
    }
}
