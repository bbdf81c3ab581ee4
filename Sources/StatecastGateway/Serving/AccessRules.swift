import StatecastCryptography
import StatecastHTTP

/// Who may ask: requests need the token, a host that the gateway knows, and no foreign page as their origin.
///
/// The token is needed on this machine, too, since its other users reach the port. It comes in a header and not in a
/// cookie: cookies ignore ports, so that a browser would send them to another user's server.
struct AccessRules: Sendable {
    private let tokenDigest: ShortDigest
    private let hosts: Set<String>
    private let allowsAnyHost: Bool
    private let origins: Set<String>

    init(_ configuration: GatewayConfiguration, allowsAnyHost: Bool) {
        tokenDigest = Self.digest(configuration.token)
        hosts = Set(configuration.hosts.map { $0.lowercased() })
        origins = Set(configuration.allowedOrigins)
        self.allowsAnyHost = allowsAnyHost
    }

    /// Whether a byte may be part of a token (RFC 6750).
    static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }

    /// Digests of equal length: the comparison tells nothing of the token.
    private static func digest(_ token: String) -> ShortDigest {
        ShortDigest(of: Array(token.utf8), domain: "sc-token")
    }

    /// Judges the header `Host`, without its port, against DNS rebinding.
    func permitsHost(_ host: String) -> Bool {
        allowsAnyHost && hosts.isEmpty || hosts.contains(host) || Loopback.contains(host)
    }

    /// - Throws: ``GatewayFailure`` with code `origin` or `token`.
    func check(_ request: GatewayRequest) throws {
        if let origin = request.header("origin") {
            guard isOwn(origin, of: request) || origins.contains(origin) else {
                throw GatewayFailure(
                    .origin,
                    "pages of \(origin) may not use this gateway; permit them with --allow-origin"
                )
            }
        } else if request.header("sec-fetch-site") == "cross-site" {
            throw GatewayFailure(.origin, "pages of other sites may not use this gateway")
        }
        guard let token = request.header("authorization"), token.hasPrefix("Bearer ") else {
            throw GatewayFailure(.token, "the header \"Authorization: Bearer TOKEN\" is missing")
        }
        guard Self.digest(String(token.dropFirst("Bearer ".count))) == tokenDigest else {
            throw GatewayFailure(
                .token,
                "the token is not this gateway's, which it prints at its start; without --token-file each start makes "
                    + "another one"
            )
        }
    }

    private func isOwn(_ origin: String, of request: GatewayRequest) -> Bool {
        request.header("host").map { origin == "http://\($0)" || origin == "https://\($0)" } ?? false
    }

    /// The CORS headers for a permitted origin; empty for others.
    func headers(for request: GatewayRequest) -> [(String, String)] {
        guard let origin = request.header("origin"), origins.contains(origin) else { return [] }
        return [
            ("Access-Control-Allow-Origin", origin), ("Vary", "Origin"),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type, Statecast, Last-Event-ID"),
            ("Access-Control-Allow-Methods", "GET, POST"), ("Access-Control-Max-Age", "600"),
        ]
    }
}
