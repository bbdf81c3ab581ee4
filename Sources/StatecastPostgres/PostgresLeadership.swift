package import StatecastJournal
package import StatecastProtocol

/// Who leads: the rows of the table `leader`.
extension PostgresDatabase: SharedDatabase {
    private static let observe = """
        SELECT l.term, l.beat, l.settled, l.synchronous, l.timeline = statecast.timeline(), l.resigned, l.heir,
          l.holder, l.endpoint, \(PostgresSQL.head("l.store")), pg_backend_pid(),
          EXISTS (SELECT FROM pg_stat_activity WHERE pid = l.backend)
        FROM unnest($1::text[]) WITH ORDINALITY AS wanted(store, place) JOIN statecast.leader l USING (store)
        ORDER BY place
        """

    package func leaders(of stores: [StoreName]) throws(JournalFailure) -> [LeaderRow] {
        let names = PostgresValue.texts(stores.map(\.text))
        let rows = try perform(.leadership) { connection throws(PostgresFailure) in
            try connection.execute(Self.observe, [names]).map { column throws(PostgresFailure) in
                try connection.requireSession(try column(10).integer())
                var row = LeaderRow(
                    term: Epoch(try column(0).bits()),
                    beat: try column(1).bits(),
                    settled: JournalSequence(try column(2).bits()),
                    head: JournalSequence(try column(9).bits())
                )
                row.isSynchronous = try column(3).boolean()
                row.isSameTimeline = try column(4).boolean()
                row.isResigned = try column(5).boolean()
                row.heir = column(6).isNull ? nil : try column(6).identity()
                row.holder = column(7).isNull ? nil : try column(7).identity()
                row.endpoint = column(8).isNull ? nil : try column(8).text()
                row.isConnected = try column(11).boolean()
                return row
            }
        }
        guard rows.count == stores.count else {
            // It throws for a store that is absent.
            for store in stores { _ = try contents(of: store, by: nil) }
            throw damaged("the table leader has \(rows.count) of \(stores.count) stores")
        }
        return rows
    }

    // The last line makes it all or nothing: with fewer rows than wanted, the division by zero undoes the statement. A
    // server whose commits do not wait for another one may lack records after a promotion, which changes the timeline.
    private static let claim = """
        WITH claimed AS (
          UPDATE statecast.leader l SET term = greatest(l.term, s.floor) + 1, beat = l.beat + 1, resigned = false,
            heir = NULL, holder = $5, endpoint = $6, backend = pg_backend_pid(), timeline = statecast.timeline(),
            synchronous = statecast.synchronous()
          FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS s(store, term, beat, floor)
          WHERE l.store = s.store AND l.term = s.term AND l.beat = s.beat
            AND (l.synchronous OR l.timeline = statecast.timeline())
          RETURNING l.store, l.term)
        SELECT term, 1 / (count(*) OVER () = cardinality($1))::int FROM claimed ORDER BY array_position($1, store)
        """

    package func claim(
        _ stores: [StoreName],
        above floors: [Epoch],
        _ claim: LeaderClaim
    ) throws(JournalFailure) -> [Epoch]? {
        let parameters: [PostgresValue] = [
            .texts(stores.map(\.text)), .bits(claim.seen.map(\.term.rawValue)), .bits(claim.seen.map(\.beat)),
            .bits(floors.map(\.rawValue)), .identity(claim.holder), .text(claim.endpoint),
        ]
        do throws(PostgresFailure) {
            let (terms, warning) = try connections.with(.leadership) { connection throws(PostgresFailure) in
                let result = try connection.execute(Self.claim, parameters)
                return (
                    try result.map { column throws(PostgresFailure) in Epoch(try column(0).bits()) }, result.warning
                )
            }
            if let warning { throw PostgresFailure(warning) }
            guard terms.count == stores.count else { return nil }
            // If it fails, the node is taken for a standby for up to a minute.
            _ = try? connections.with(.leadership) { connection throws(PostgresFailure) in
                try connection.execute(Self.standByNoMore, [.identity(claim.node)])
            }
            return terms
        } catch {
            // Division by zero: see the statement. A lock that was not free in time, or a deadlock: others claim.
            if ["22012", "55P03", "40P01"].contains(error.state) { return nil }
            throw JournalFailure(.unknown, "the outcome of a claim is unknown: \(error)")
        }
    }

    private static let standByNoMore =
        "DELETE FROM statecast.standby WHERE node = $1 OR seen < now() - interval '1 day'"
    private static let standBy = """
        INSERT INTO statecast.standby SELECT store, $2, head, now()
        FROM unnest($1::text[], $3::bigint[]) AS s(store, head)
        ON CONFLICT (store, node) DO UPDATE SET head = excluded.head, seen = excluded.seen
        """

    package func standBy(
        _ node: NodeID,
        for stores: [StoreName],
        heads: [JournalSequence]
    ) throws(JournalFailure) {
        let parameters: [PostgresValue] = [
            .texts(stores.map(\.text)), .identity(node), .bits(heads.map(\.rawValue)),
        ]
        try perform(.leadership) { connection throws(PostgresFailure) in
            _ = try connection.execute(Self.standBy, parameters)
        }
    }

    private static let heir = """
        SELECT node FROM statecast.standby WHERE store = $1 AND node <> $2
          AND seen > now() - $3 * interval '1 millisecond'
        ORDER BY head DESC, seen DESC LIMIT 1
        """

    package func standby(
        of store: StoreName,
        within duration: Duration,
        besides node: NodeID
    ) throws(JournalFailure) -> NodeID? {
        try perform(.leadership) { connection throws(PostgresFailure) in
            let parameters: [PostgresValue] = [.text(store.text), .identity(node), .integer(duration.milliseconds)]
            return try connection.execute(Self.heir, parameters)
                .map { column throws(PostgresFailure) in try column(0).identity() }.first
        }
    }

    package func close(_ store: StoreName) { connections.close(.commits(store)) }
}
