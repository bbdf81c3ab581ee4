public import Statecast
import StatecastProtocol

/// What a gateway serves, and to whom.
public struct GatewayConfiguration: Sendable {
    /// A store that the gateway follows.
    public struct Store: Sendable {
        /// The store's name.
        public var name: String
        /// The directory of its journal, if that is on this machine; `nil`: there is no history.
        public var journal: String?

        /// A store, and its journal.
        public init(_ name: String, journal: String? = nil) { (self.name, self.journal) = (name, journal) }
    }

    /// The stores.
    public var stores: [Store]
    /// Where the primary publishes states; as for a `Replica`.
    public var endpoint: String
    /// Where the primary publishes receipts, if it has keys; `nil`: at ``endpoint``.
    public var receipts: String?
    /// Where the primary publishes the lists of peers, if it has keys; `nil`: at ``endpoint``.
    public var peers: String?
    /// Where to listen: an IP address or `localhost`, and a port.
    public var address = "127.0.0.1:7190"
    /// Every request for data needs it. At least 16 letters, digits and `-._~+/=`.
    public var token: String
    /// Whether clients may send actions.
    public var allowsSending = false
    /// The secret from which the sessions of clients are derived, at least 16 bytes: with the same one, a restarted
    /// gateway continues them.
    public var sessionSecret: [UInt8]
    /// JSON Pointers of parts of the states that no answer contains; `*` stands for any key: `/users/*/email`.
    public var hiddenPaths: [String] = []
    /// Fields of payloads that no answer contains: `NoteAdded/text`.
    public var hiddenFields: [String] = []
    /// Names, beside those of this machine, that requests may have in their header `Host`: a proxy's.
    public var hosts: [String] = []
    /// Origins whose pages may read the answers: `https://boards.example.com`.
    public var allowedOrigins: [String] = []
    /// A folder whose files are served instead of the inspector, such as one's own dashboard; `nil`: the inspector.
    public var pages: String?
    /// How the gateway follows the stores, by default without busy polling, which takes processor time from others.
    public var replica = ReplicaConfiguration()
    /// How it sends clients' actions. For a primary with keys, set `security` here and in ``replica``.
    public var sender = SenderConfiguration()
    /// Where the gateway may listen: with `trustedNetwork` at any address, without encryption.
    public var plaintextHTTP = PlaintextPolicy.thisMachine

    /// A gateway of stores at an endpoint.
    public init(stores: [Store], from endpoint: String, token: String, sessionSecret: [UInt8]) {
        (self.stores, self.endpoint, self.token, self.sessionSecret) = (stores, endpoint, token, sessionSecret)
        (replica.maxBusyPolling, sender.maxBusyPolling) = (.zero, .zero)
        replica.name = replica.name.map { "gateway-\($0)" }
    }
}

/// The bounds of a gateway's requests; those of HTTP are in `HTTPLimits`.
enum GatewayLimits {
    static let maxConnections = 512
    static let maxStreams = 256
    static let maxStreamsPerAddress = 64
    static let maxBodyBytes = 256 << 10
    static let maxPaths = 64
    static let maxPathBytes = 4 << 10
    static let maxDepth = 4
    static let maxLimit = 1000
    /// Of one answer of `blame`.
    static let maxChanges = 100
    static let maxSessions = 64
    static let maxInFlight = 64
    static let maxSendsPerSecond = 100

    static func write(to writer: inout JSONWriter) {
        writer.object("limits") { writer in
            writer.member("paths", maxPaths)
            writer.member("pathBytes", maxPathBytes)
            writer.member("depth", maxDepth)
            writer.member("limit", maxLimit)
            writer.member("valueBytes", StateNodes.maxValueBytes)
            writer.member("answerBytes", EventStream.maxEventBytes)
            writer.member("inFlight", maxInFlight)
        }
    }
}
