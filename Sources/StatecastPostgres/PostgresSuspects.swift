package import StatecastJournal
package import StatecastProtocol

/// The actions that ended a process of a node.
extension PostgresDatabase {
    private static let addCrashes = """
        INSERT INTO statecast.suspect VALUES ($1, $2, $3, $4)
        ON CONFLICT (store, session, number) DO UPDATE SET crashes = suspect.crashes + excluded.crashes
        """
    // A row stays if its action comes no more, so the table may have many.
    private static let crashesOf = """
        SELECT session, number, crashes FROM statecast.suspect WHERE store = $1 ORDER BY crashes DESC LIMIT 1000
        """
    private static let removeCrashes =
        "DELETE FROM statecast.suspect WHERE store = $1 AND session = $2 AND number = $3"

    package func add(_ crashes: [CrashMarker.Crashes], of store: StoreName) throws(JournalFailure) {
        try perform(.leadership) { connection throws(PostgresFailure) in
            for crash in crashes {
                let parameters = place(store, crash.session, crash.number) + [.bits(crash.count)]
                try connection.execute(Self.addCrashes, parameters)
            }
        }
    }

    package func crashes(of store: StoreName) throws(JournalFailure) -> [CrashMarker.Crashes] {
        try rows(.leadership, Self.crashesOf, [.text(store.text)]) { column throws(PostgresFailure) in
            guard let session = SessionID(try column(0).text()) else {
                throw PostgresFailure("the table suspect holds an invalid session")
            }
            return CrashMarker.Crashes(
                session: session,
                number: ActionNumber(try column(1).bits()),
                count: try column(2).bits()
            )
        }
    }

    package func removeCrashes(
        of session: SessionID,
        _ number: ActionNumber,
        of store: StoreName
    ) throws(JournalFailure) {
        try perform(.snapshots) { connection throws(PostgresFailure) in
            _ = try connection.execute(Self.removeCrashes, place(store, session, number))
        }
    }

    private func place(_ store: StoreName, _ session: SessionID, _ number: ActionNumber) -> [PostgresValue] {
        [.text(store.text), .text(session.description), .bits(number)]
    }
}
