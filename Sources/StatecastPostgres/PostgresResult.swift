import CStatecastPostgres

/// Owns a `PGresult`.
final class ResultPointer {
    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    var isError: Bool {
        let status = PQresultStatus(pointer)
        return status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK
    }

    func field(_ code: Unicode.Scalar) -> String? {
        PQresultErrorField(pointer, Int32(code.value)).map { String(cString: $0) }
    }
}

/// The rows of a statement, its warning and its duration.
struct PostgresResult {
    private let result: ResultPointer
    /// A warning: if the statement writes, it may be durable on one server only.
    let warning: String?
    let duration: Duration

    init(_ result: ResultPointer, warning: String?, duration: Duration) {
        (self.result, self.warning, self.duration) = (result, warning, duration)
    }

    /// The number of rows that were written.
    var writtenCount: Int { Int(String(cString: PQcmdTuples(result.pointer))) ?? 0 }

    var rowCount: Int { Int(PQntuples(result.pointer)) }

    /// The columns of all rows, which are valid within `body`.
    func map<Element>(
        _ body: (_ column: (Int) -> PostgresColumn) throws(PostgresFailure) -> Element
    ) throws(PostgresFailure) -> [Element] {
        defer { withExtendedLifetime(result) {} }
        var elements: [Element] = []
        elements.reserveCapacity(rowCount)
        for row in 0..<Int32(rowCount) {
            elements.append(
                try body { column in
                    guard PQgetisnull(result.pointer, row, Int32(column)) == 0 else {
                        return PostgresColumn(bytes: nil)
                    }
                    let count = Int(PQgetlength(result.pointer, row, Int32(column)))
                    let start = PQgetvalue(result.pointer, row, Int32(column))
                    return PostgresColumn(bytes: UnsafeRawBufferPointer(start: start, count: count))
                }
            )
        }
        return elements
    }
}

/// Why a statement failed.
struct PostgresFailure: Error, CustomStringConvertible {
    /// The SQLSTATE with which the server refused it; `nil`: there was no answer, or another one than expected. Then it
    /// may take effect at any later time.
    let state: String?
    let description: String

    init(_ description: String, state: String? = nil) { (self.description, self.state) = (description, state) }

    init(_ result: ResultPointer) {
        let message = result.field("M") ?? "an error without a message"
        guard let state = result.field("C") else { self.init(message); return }
        // A prepared statement is absent, or is that of another connection.
        guard !["26000", "42P05"].contains(state) else { self = .withoutSession; return }
        self.init("\(message) (SQLSTATE \(state))", state: state)
    }

    static let withoutSession = Self(
        "a pooler gives the statements of a connection to several sessions: set pool_mode=session in it"
    )
}
