import StatecastCore
public import StatecastJournal
import StatecastProtocol

/// A PostgreSQL database that holds the journals of stores, for nodes that take over from each other.
///
/// ```swift
/// let database = try PostgresDatabase("postgresql://db1,db2/fleet?sslmode=verify-full")
/// let fleet = try Primary(store: "fleet", ..., journal: database.journal(of: "fleet"))
/// try await fleet.run()
/// ```
///
/// Nothing is read or written before the node runs. `statecast-journal create` makes the tables and begins a store.
public final class PostgresDatabase: Sendable, CustomStringConvertible {
    let connections: PostgresConnections
    /// The address.
    public let description: String

    /// Checks an address; connects later.
    ///
    /// - Parameter uri: a connection URI of libpq, without a password: use a passfile or a certificate.
    /// - Throws: `JournalFailure` with code `misfit`.
    public convenience init(_ uri: String) throws(JournalFailure) { try self.init(uri, CommitTimes()) }

    package init(_ uri: String, _ times: CommitTimes) throws(JournalFailure) {
        let uri = try PostgresURI(uri)
        (connections, description) = (PostgresConnections(uri, times), uri.description)
    }

    /// Whether a text is meant as the address of a database, not as a path.
    public static func isURI(_ text: String) -> Bool { PostgresURI.isURI(text) }

    /// The journal of a store.
    ///
    /// - Parameter crashMarks: a file of this node, in a folder that exists, which survives the process: an action
    ///   whose reduction ends processes is rejected after the second one, on whatever node; `nil`: it ends all nodes,
    ///   again and again.
    /// - Throws: `JournalFailure` with code `misfit` (the store's name), `in-use` or `input-output` (the file).
    public func journal(of store: String, crashMarks: String? = nil) throws(JournalFailure) -> any Journal {
        let name: StoreName
        do { name = try StoreName(store) } catch { throw JournalFailure(.misfit, "\(error)") }
        let file = try crashMarks.map { path throws(JournalFailure) in try CrashMarkFile(at: path) }
        return SharedJournal(self, store: name, crashMarker: file?.marker ?? CrashMarker(), keeping: file)
    }

    /// A failure of a statement that is safe to repeat.
    func failure(_ failure: PostgresFailure) -> JournalFailure {
        switch failure.state {
        case "3F000", "42P01":
            JournalFailure(
                .misfit,
                "the database \(description) has no tables of statecast: create a store there with statecast-journal "
                    + "create \(description) STORE"
            )
        case "53100": JournalFailure(.storageFull, "the database \(description) has no room: \(failure)")
        default: JournalFailure(.inputOutput, "the database \(description): \(failure)")
        }
    }

    func absent(_ store: StoreName) -> JournalFailure {
        JournalFailure(
            .misfit,
            "the database \(description) has no store \"\(store)\": create it with statecast-journal create "
                + "\(description) \(store)"
        )
    }

    func damaged(_ what: String) -> JournalFailure {
        JournalFailure(.damaged, "the database \(description) is damaged: \(what). Restore a backup", reason: what)
    }

    /// Performs statements that are safe to repeat.
    func perform<Result>(
        _ use: PostgresConnections.Use,
        _ body: (PostgresConnection) throws(PostgresFailure) -> Result
    ) throws(JournalFailure) -> Result {
        do throws(PostgresFailure) { return try connections.with(use, body) } catch { throw failure(error) }
    }

    /// Executes a statement that returns rows.
    func rows<Element>(
        _ use: PostgresConnections.Use,
        _ sql: String,
        _ parameters: [PostgresValue],
        _ row: (_ column: (Int) -> PostgresColumn) throws(PostgresFailure) -> Element
    ) throws(JournalFailure) -> [Element] {
        try perform(use) { connection throws(PostgresFailure) in try connection.execute(sql, parameters).map(row) }
    }
}
