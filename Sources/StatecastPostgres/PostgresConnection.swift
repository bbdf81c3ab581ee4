import CStatecastPostgres

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A connection to a PostgreSQL server. Each call blocks until its deadline at most, and one thread at a time may call.
///
/// After a call that was not answered in time, the connection is closed: the server may still execute the statement.
final class PostgresConnection {
    private let connection: OpaquePointer
    /// The warnings of the statement in progress.
    private let notices = Notices()
    /// The names of prepared statements, by their text.
    private var prepared: [String: String] = [:]
    private(set) var isUsable = true
    /// The process of the server that serves the connection.
    private var backend: Int64?
    /// How long a statement may take.
    private let limit: Duration

    /// Collects warnings: a commit that waited in vain for another server is reported by one, and by nothing else.
    private final class Notices {
        var warning: String?
    }

    // MARK: Connecting

    /// Connects, within the time that the options permit for each host.
    ///
    /// - Parameters:
    ///   - options: of libpq; later ones replace earlier ones.
    ///   - limit: how long a statement may take.
    /// - Throws: ``PostgresFailure``.
    init(_ options: [(name: String, value: String)], limit: Duration) throws(PostgresFailure) {
        self.limit = limit
        guard let connection = Self.connect(options) else {
            throw PostgresFailure("no memory for a connection")
        }
        self.connection = connection
        guard PQstatus(connection) == CONNECTION_OK, PQsetnonblocking(connection, 1) == 0 else {
            throw PostgresFailure(message)
        }
        PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context, let result else { return }
                let severity = PQresultErrorField(result, Int32(UInt8(ascii: "V"))).map { String(cString: $0) }
                guard severity == "WARNING" else { return }
                let text = PQresultErrorMessage(result).map { String(cString: $0) } ?? "warning"
                Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue().warning = text.singleLine
            },
            Unmanaged.passUnretained(notices).toOpaque()
        )
        // On the server: a statement whose node has given up must not wait for a lock, nor go on for ever.
        for setting in ["lock_timeout = '1s'", "statement_timeout = '60s'"] { try execute("SET \(setting)") }
    }

    private static func connect(_ options: [(name: String, value: String)]) -> OpaquePointer? {
        let (names, values) = (options.map { strdup($0.name) }, options.map { strdup($0.value) })
        defer { for text in names + values { free(text) } }
        let pointers = { (texts: [UnsafeMutablePointer<CChar>?]) in texts.map { UnsafePointer($0) } + [nil] }
        // 1: the value of `dbname` may be a URI.
        return PQconnectdbParams(pointers(names), pointers(values), 1)
    }

    deinit { PQfinish(connection) }

    private var message: String { String(cString: PQerrorMessage(connection)).singleLine }

    /// Waits for the socket.
    ///
    /// - Returns: whether it was ready before the deadline.
    private func wait(for events: Int32, until deadline: ContinuousClock.Instant) -> Bool {
        var descriptor = pollfd(fd: PQsocket(connection), events: Int16(events), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            guard left > .zero else { return false }
            let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000 + 1
            let count = poll(&descriptor, 1, Int32(clamping: milliseconds))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return true }
        }
    }

    // MARK: Statements

    /// Executes one statement, which is a transaction of its own.
    ///
    /// - Parameter more: how much longer than others it may take.
    /// - Throws: ``PostgresFailure``; the connection may be unusable after it.
    @discardableResult
    func execute(
        _ sql: String,
        _ parameters: [PostgresValue] = [],
        more: Duration = .zero
    ) throws(PostgresFailure) -> PostgresResult {
        let deadline = ContinuousClock.now + limit + more
        let name = try prepare(sql, parameters, until: deadline)
        let encoded = parameters.map(\.encoded)
        let start = ContinuousClock.now
        let isSent = Self.withPointers(encoded) { pointers in
            PQsendQueryPrepared(
                connection,
                name,
                Int32(parameters.count),
                pointers,
                encoded.map { Int32($0?.count ?? 0) },
                encoded.map { _ in 1 },
                1
            )
        }
        guard isSent == 1 else { throw lost() }
        let result = try results(until: deadline)
        return PostgresResult(result, warning: notices.warning, duration: start.duration(to: .now))
    }

    /// Checks that one session serves the connection: its settings and prepared statements belong to it.
    ///
    /// - Parameter backend: the process that has executed a statement.
    func requireSession(_ backend: Int64) throws(PostgresFailure) {
        guard backend == self.backend ?? backend else {
            throw .withoutSession
        }
        self.backend = backend
    }

    private func prepare(
        _ sql: String,
        _ parameters: [PostgresValue],
        until deadline: ContinuousClock.Instant
    ) throws(PostgresFailure) -> String {
        if let name = prepared[sql] { return name }
        let name = "statecast_\(prepared.count)"
        guard PQsendPrepare(connection, name, sql, Int32(parameters.count), parameters.map(\.type)) == 1 else {
            throw lost()
        }
        _ = try results(until: deadline)
        prepared[sql] = name
        return name
    }

    private static func withPointers<Result>(
        _ values: [[UInt8]?],
        _ body: ([UnsafePointer<CChar>?]) -> Result
    ) -> Result {
        // One copy for all values, which the pointers refer to.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(values.reduce(1) { $0 + ($1?.count ?? 0) })
        let offsets = values.map { value -> Int? in
            guard let value else { return nil }
            defer { bytes += value }
            return bytes.count
        }
        // An empty value must not have a null pointer.
        bytes.append(0)
        return bytes.withUnsafeBytes { bytes in
            let base = bytes.assumingMemoryBound(to: CChar.self).baseAddress
            return body(offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } })
        }
    }

    /// Sends what is left, and reads until the server is ready for the next statement: only then a warning of the
    /// commit has arrived.
    private func results(until deadline: ContinuousClock.Instant) throws(PostgresFailure) -> ResultPointer {
        notices.warning = nil
        var last: ResultPointer?
        while true {
            switch PQflush(connection) {
            case 0: break
            case 1:
                guard wait(for: POLLIN | POLLOUT, until: deadline) else { throw unanswered() }
                guard PQconsumeInput(connection) == 1 else { throw lost() }
                continue
            default: throw lost()
            }
            guard PQisBusy(connection) == 0 else {
                guard wait(for: POLLIN, until: deadline) else { throw unanswered() }
                guard PQconsumeInput(connection) == 1 else { throw lost() }
                continue
            }
            guard let result = PQgetResult(connection) else { break }
            // The first error counts: what follows it only says that the connection ended.
            if last?.isError != true { last = ResultPointer(result) } else { PQclear(result) }
        }
        guard PQstatus(connection) == CONNECTION_OK, let last else { throw lost() }
        guard !last.isError else { throw PostgresFailure(last) }
        return last
    }

    private func lost() -> PostgresFailure {
        isUsable = false
        return PostgresFailure(message.isEmpty ? "the connection was lost" : message)
    }

    private func unanswered() -> PostgresFailure {
        isUsable = false
        let server = "check the server, and the one that its commits wait for"
        return PostgresFailure("no answer within \(limit): \(server)")
    }
}

extension String {
    /// libpq's messages may have several lines.
    var singleLine: String {
        split(whereSeparator: \.isNewline).map { line in
            let end = line.lastIndex { !$0.isWhitespace }.map(line.index(after:)) ?? line.startIndex
            return line[..<end].drop(while: \.isWhitespace)
        }.joined(separator: "; ")
    }
}
