import CStatecastPostgres
import StatecastJournal

/// The address of a database, as a checked connection URI of libpq.
struct PostgresURI: Hashable, Sendable, CustomStringConvertible {
    /// Without a password.
    let description: String

    /// - Throws: ``JournalFailure`` with code `misfit` if it is not a URI of PostgreSQL, or if it contains a password,
    ///   which every user of the machine could read in the list of processes.
    init(_ text: String) throws(JournalFailure) {
        description = text
        guard Self.isURI(text) else {
            throw JournalFailure(.misfit, "expected postgresql://HOST/DATABASE, not \(text)")
        }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &message) else {
            let reason = message.map { String(cString: $0).singleLine } ?? "no memory"
            PQfreemem(message)
            throw JournalFailure(.misfit, "the URI of the database is not well-formed: \(reason)")
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let name = option.pointee.keyword {
            if String(cString: name) == "password", option.pointee.val != nil {
                throw JournalFailure(
                    .misfit,
                    "the URI of the database contains a password, which other users of this machine can read: write it "
                        + "to a passfile (passfile=PATH), or use a certificate (sslcert=PATH&sslkey=PATH)"
                )
            }
            option += 1
        }
    }

    /// Whether a text is meant as the address of a database, not as a path.
    static func isURI(_ text: String) -> Bool { text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") }

    /// For libpq. What the URI sets replaces the first ones.
    var options: [(name: String, value: String)] {
        [
            ("application_name", "statecast"),
            // Of several hosts, the one that accepts writes.
            ("target_session_attrs", "read-write"),
            ("connect_timeout", "2"),
            ("tcp_user_timeout", "2000"),
            ("dbname", description),
            ("client_encoding", "UTF8"),
        ]
    }
}
