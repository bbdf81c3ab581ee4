/// A request to the gateway, without the server that received it.
struct GatewayRequest: Sendable {
    let method: String
    /// Still percent-encoded.
    let path: String
    let query: String?
    /// The value of a header by its lower-case name, several values separated by commas; `nil` if it is missing.
    let header: @Sendable (String) -> String?
    let body: [UInt8]
    /// Of the client.
    let address: String
}

/// The answer to a request.
struct GatewayAnswer: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        /// Writes events; its argument returns when the client has taken the bytes.
        case events(@Sendable (@escaping @Sendable ([UInt8]) async throws -> Void) async throws -> Void)
    }

    var status = 200
    var headers: [(String, String)]
    var body: Body

    /// Of every answer.
    private static let common = [
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ),
    ]

    init(status: Int = 200, type: String, _ body: Body, _ headers: [(String, String)] = []) {
        (self.status, self.body) = (status, body)
        self.headers = Self.common + [("Content-Type", type)] + headers
    }

    static func json(_ bytes: [UInt8], status: Int = 200) -> GatewayAnswer {
        GatewayAnswer(status: status, type: "application/json", .bytes(bytes), [("Cache-Control", "no-store")])
    }

    init(_ failure: GatewayFailure) {
        self = .json(failure.json, status: failure.code.status)
        if let retryAfter = failure.retryAfter { headers.append(("Retry-After", "\(retryAfter)")) }
        // An unread or refused request must not be followed by another one.
        if failure.code.status < 500, failure.code != .pruned, failure.code != .noSuchPath {
            headers.append(("Connection", "close"))
        }
    }
}
