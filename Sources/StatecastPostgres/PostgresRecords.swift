import StatecastCore
package import StatecastJournal
package import StatecastProtocol

/// The records and epochs of stores.
extension PostgresDatabase {
    // MARK: Commits

    private static let append = """
        \(PostgresSQL.fence)
        INSERT INTO statecast.record
        SELECT f.store, r.n, $2, r.a, r.b, octet_length(r.body), r.c, r.body
        FROM fence f, unnest($5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::bytea[]) AS r(n, a, b, c, body)
        WHERE $4 = \(PostgresSQL.head("$1"))
        """

    package func append(
        _ records: [JournalRecord],
        to store: StoreName,
        after last: JournalSequence,
        by fence: Fence
    ) -> CommitReply {
        let parameters: [PostgresValue] =
            fenced(store, fence) + [
                .bits(last), .bits(records.map(\.sequence.rawValue)), .bits(records.map(\.from.rawValue)),
                .bits(records.map(\.to.rawValue)), .integers(records.map(\.checksum)), .byteArrays(records.map(\.body)),
            ]
        let bytes = records.reduce(0) { $0 + $1.body.count }
        return commit(store, Self.append, parameters, rows: records.count, bytes: bytes)
    }

    private static let start = """
        \(PostgresSQL.fence)
        INSERT INTO statecast.epoch SELECT store, $2, $5, $6, $7, $8 FROM fence WHERE $4 = \(PostgresSQL.head("$1"))
        """

    package func start(
        _ epoch: EpochStart,
        of store: StoreName,
        after last: JournalSequence,
        by fence: Fence
    ) -> CommitReply {
        let parameters: [PostgresValue] =
            fenced(store, fence) + [
                .bits(last), .bits(epoch.revision), .bits(epoch.stateVersion), .integer(epoch.time.milliseconds),
                .integer(epoch.checksum),
            ]
        return commit(store, Self.start, parameters, rows: 1)
    }

    // The row is changed, so no separate lock is needed.
    private static let renew = """
        UPDATE statecast.leader SET beat = beat + 1, settled = greatest(settled, $5),
          synchronous = statecast.synchronous(), resigned = $6, heir = $7, backend = pg_backend_pid()
        WHERE store = $1 AND term = $2 AND holder = $3 AND timeline = statecast.timeline() AND NOT resigned
          AND $4 = \(PostgresSQL.head("$1"))
        """

    package func renew(
        _ store: StoreName,
        at last: JournalSequence,
        settled: JournalSequence,
        by fence: Fence,
        resigning: Resignation?
    ) -> CommitReply {
        let heir = resigning?.heir.map { PostgresValue.identity($0) } ?? .nullIdentity
        let parameters = fenced(store, fence) + [.bits(last), .bits(settled), .boolean(resigning != nil), heir]
        return commit(store, Self.renew, parameters, rows: 1)
    }

    func fenced(_ store: StoreName, _ fence: Fence) -> [PostgresValue] {
        [.text(store.text), .bits(fence.term), .identity(fence.holder)]
    }

    /// Large commits may take longer.
    private static let slowestBytesPerSecond = 8 << 20

    private func commit(
        _ store: StoreName,
        _ sql: String,
        _ parameters: [PostgresValue],
        rows: Int,
        bytes: Int = 0
    ) -> CommitReply {
        let more = Duration.milliseconds(Int64(bytes) * 1000 / Int64(Self.slowestBytesPerSecond))
        let answer: StatementAnswer
        var duration = Duration.zero
        do throws(PostgresFailure) {
            let result = try connections.with(.commits(store)) { connection throws(PostgresFailure) in
                try connection.execute(sql, parameters, more: more)
            }
            answer = .done(rows: result.writtenCount, warning: result.warning)
            duration = result.duration
        } catch {
            answer = .failed(state: error.state, "the database \(description): \(error)")
        }
        return CommitReply(answer, after: duration, expecting: rows, late: connections.times.late + more)
    }

    // MARK: Content

    private static let identity = """
        SELECT s.lineage, s.begun, s.first, s.checksum, s.format, s.moved, \(PostgresSQL.head("s.store")),
          $2::bigint IS NULL OR EXISTS (SELECT FROM statecast.leader l
            WHERE l.store = $1 AND l.term = $2 AND l.holder = $3)
        FROM statecast.store s WHERE s.store = $1
        """
    private static let epochs =
        "SELECT epoch, revision, version, time, checksum FROM statecast.epoch WHERE store = $1 ORDER BY epoch"

    package func contents(of store: StoreName, by fence: Fence?) throws(JournalFailure) -> SharedContents? {
        try contents(of: store, by: fence, isMoved: false)
    }

    /// - Parameter isMoved: whether the store may be one that was moved to another place.
    func contents(of store: StoreName, by fence: Fence?, isMoved: Bool) throws(JournalFailure) -> SharedContents? {
        let rows = try rows(.reading, Self.identity, optional(store, fence)) { column throws(PostgresFailure) in
            (
                numbers: [try column(0).bits(), try column(1).bits(), try column(2).bits()],
                checksum: try column(3).integer(), format: try column(4).integer(),
                moved: column(5).isNull ? nil : try column(5).text(), last: try column(6).bits(),
                isOurs: try column(7).boolean()
            )
        }
        guard let row = rows.first else { throw absent(store) }
        guard row.format == PostgresSchema.format else {
            throw JournalFailure(
                .newerFormat,
                "the store \"\(store)\" was written by a later version of statecast: use that one or a later one"
            )
        }
        guard row.checksum == Int64(Checksum.of(row.numbers, Array(store.text.utf8))) else {
            throw damaged("the row of the store \"\(store)\" has a wrong checksum")
        }
        if let moved = row.moved, !isMoved {
            throw JournalFailure(
                .misfit,
                "the store \"\(store)\" is being moved, or is elsewhere (\(moved)): use it there, or repeat the command"
            )
        }
        guard row.isOurs else { return nil }
        let identity = JournalIdentity(
            store: store,
            lineage: Lineage(bits: row.numbers[0]),
            begun: Timestamp(milliseconds: Int64(bitPattern: row.numbers[1]))
        )
        let contents = JournalContents(
            identity: identity,
            epochs: try epochs(of: store),
            last: JournalSequence(row.last)
        )
        return SharedContents(contents, first: JournalSequence(row.numbers[2]))
    }

    private func epochs(of store: StoreName) throws(JournalFailure) -> [EpochStart] {
        let rows = try rows(.reading, Self.epochs, [.text(store.text)]) { column throws(PostgresFailure) in
            let epoch = EpochStart(
                epoch: Epoch(try column(0).bits()),
                revision: Revision(try column(1).bits()),
                stateVersion: try column(2).bits(),
                time: Timestamp(milliseconds: try column(3).integer())
            )
            return (epoch, isIntact: try column(4).integer() == epoch.checksum)
        }
        if let damage = rows.first(where: { !$0.isIntact }) {
            throw damaged("the row of epoch \(damage.0.epoch) of the store \"\(store)\" has a wrong checksum")
        }
        return rows.map(\.0)
    }

    private func optional(_ store: StoreName, _ fence: Fence?) -> [PostgresValue] {
        fence.map { fenced(store, $0) } ?? [.text(store.text), .nullInteger, .nullIdentity]
    }

    // At most 1,000 rows are looked at, so that no more than a page of bodies is read to be left out.
    private static let recordsAfter = """
        SELECT sequence, start, "end", checksum, body FROM (
          SELECT *, sum(bytes) OVER (ORDER BY sequence) - bytes AS before FROM (
            SELECT * FROM statecast.record WHERE store = $1 AND sequence > $4 ORDER BY sequence LIMIT 1000) p) r
        WHERE before < $5 AND ($2::bigint IS NULL OR EXISTS (SELECT FROM statecast.leader l
            WHERE l.store = $1 AND l.term = $2 AND l.holder = $3))
        ORDER BY sequence
        """

    package func records(
        of store: StoreName,
        after sequence: JournalSequence,
        maxBytes: Int,
        by fence: Fence?
    ) throws(JournalFailure) -> [JournalRecord] {
        let parameters = optional(store, fence) + [.bits(sequence), .integer(Int64(maxBytes))]
        let rows = try rows(.reading, Self.recordsAfter, parameters) { column throws(PostgresFailure) in
            let record = JournalRecord(
                sequence: JournalSequence(try column(0).bits()),
                from: Revision(try column(1).bits()),
                to: Revision(try column(2).bits()),
                body: try column(4).byteArray()
            )
            return (record, isIntact: try column(3).integer() == record.checksum)
        }
        var last = sequence
        for (record, isIntact) in rows {
            guard record.sequence == last.next else {
                guard last == sequence else {
                    throw damaged("record \(last.next) of the store \"\(store)\" is missing")
                }
                throw JournalFailure(.pruned, "record \(sequence.next) of the store \"\(store)\" is no longer kept")
            }
            guard isIntact else {
                throw damaged(
                    "from revision \(record.from.next) on: record \(record.sequence) of the store \"\(store)\" has a "
                        + "wrong checksum"
                )
            }
            last = record.sequence
        }
        return rows.map(\.0)
    }
}

extension JournalRecord {
    var checksum: Int64 { Int64(Checksum.of([sequence.rawValue, from.rawValue, to.rawValue], body)) }
}

extension EpochStart {
    var checksum: Int64 {
        Int64(
            Checksum.of([epoch.rawValue, revision.rawValue, stateVersion, UInt64(bitPattern: time.milliseconds)])
        )
    }
}
