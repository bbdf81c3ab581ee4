import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// Follows the list of a store's peers, if the gateway may.
final class PeersFollower: Sendable {
    private let replica: Replica<Peers>

    /// A replica that lags more revisions is slow; one without a state of this history is stale.
    static let slowRevisions: UInt64 = 500

    init(_ replica: Replica<Peers>) { self.replica = replica }

    func run() async { try? await replica.run() }

    /// The newest list; `nil` and why if there is none.
    var list: (peers: Peers?, why: String?) {
        switch replica.status {
        case .live: (replica.snapshot?.state, nil)
        // Its members age without it.
        case .stale: (nil, "the primary is silent")
        case .joining: (nil, "the primary has not sent a list of peers")
        case .refused(let reason), .incompatible(let reason): (nil, reason.message)
        }
    }

    private static func status(_ peer: Peer) -> String {
        guard peer.kind == .replica else { return "ok" }
        // It may not have announced its first state yet.
        let isNew = Timestamp.systemClock().milliseconds - peer.since < 10_000
        guard let lag = peer.lag else { return isNew ? "ok" : "stale" }
        return lag > slowRevisions ? "slow" : "ok"
    }

    /// The names of the replicas with a status; `nil` if the list is not known.
    func names(with status: String) -> [String]? {
        list.peers.map { $0.peers.values.filter { Self.status($0) == status }.map(\.name).sorted() }
    }

    /// Writes the rows, those that lag most first unless they are sorted by another column.
    func write(sortedBy column: String, to writer: inout JSONWriter) throws {
        let (list, why) = list
        writer.member("reported", list != nil)
        if let why { writer.member("why", why) }
        let precedes: (Peer, Peer) -> Bool
        switch column {
        case "lag":
            precedes = { ($0.kind == .replica ? $0.lag ?? .max : 0) > ($1.kind == .replica ? $1.lag ?? .max : 0) }
        case "name": precedes = { $0.name < $1.name }
        case "rate": precedes = { ($0.actionsPerSecond ?? -1) > ($1.actionsPerSecond ?? -1) }
        case "since": precedes = { $0.since < $1.since }
        default: throw GatewayFailure(.badRequest, "peers are sorted by lag, name, rate or since, not by \"\(column)\"")
        }
        writer.array("peers") { writer in
            for peer in (list.map { Array($0.peers.values) } ?? []).sorted(by: precedes).prefix(GatewayLimits.maxLimit)
            {
                writer.object { Self.write(peer, to: &$0) }
            }
        }
    }

    private static func write(_ peer: Peer, to writer: inout JSONWriter) {
        writer.member("name", peer.name)
        writer.member("kind", peer.kind.rawValue)
        writer.member("user", peer.user)
        writer.member("address", peer.address)
        writer.member("status", status(peer))
        writer.member("revision", peer.revision)
        writer.member("lag", peer.kind == .replica ? peer.lag : nil)
        writer.key("rate")
        if let rate = peer.actionsPerSecond { writer.double(rate) } else { writer.null() }
        writer.member("since", peer.since)
    }
}
