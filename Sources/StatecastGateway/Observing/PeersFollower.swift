import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// Follows the list of a store's peers, if the gateway may, while clients ask for it: the primary makes the list only
/// while it is followed.
final class PeersFollower: Sendable {
    private let make: @Sendable () throws(StatecastError) -> Replica<Peers>
    private let following = Monitor((replica: nil as Replica<Peers>?, isAsked: false))

    /// How long the list is followed after a request.
    private static let pause = Duration.seconds(30)
    /// How long the first request waits for a list.
    private static let patience = Duration.seconds(2)

    /// - Throws: what `make`, which makes a replica of the list, throws.
    init(_ make: @escaping @Sendable () throws(StatecastError) -> Replica<Peers>) throws(StatecastError) {
        self.make = make
        _ = try make()
    }

    /// Follows the list, when it is asked for, until the task is cancelled.
    func run() async {
        while (try? await following.wait { $0.isAsked ? true : nil }) != nil, let replica = try? make() {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await replica.run() }
                try? await within(Self.patience) {
                    for await status in replica.statuses where status != .joining { return }
                }
                following.change { $0.replica = replica }
                repeat {
                    following.change { $0.isAsked = false }
                    try? await Task.sleep(for: Self.pause)
                } while following.value.isAsked && !Task.isCancelled
                following.change { $0.replica = nil }
                group.cancelAll()
            }
        }
    }

    /// The newest list.
    func list() async -> KnownPeers {
        following.change { $0.isAsked = true }
        let following = following
        guard let replica = try? await within(Self.patience * 2, { try await following.wait { $0.replica } }) else {
            return KnownPeers(peers: nil, why: "the gateway does not follow the list of peers")
        }
        return switch replica.status {
        case .live: KnownPeers(peers: replica.snapshot?.state, why: nil)
        // Its members age without it.
        case .stale: KnownPeers(peers: nil, why: "the primary is silent")
        case .joining: KnownPeers(peers: nil, why: "the primary has not sent a list of peers")
        case .refused(let reason), .incompatible(let reason): KnownPeers(peers: nil, why: reason.message)
        }
    }
}

/// The peers of a store; `nil` and why if they are not known.
struct KnownPeers: Sendable {
    let peers: Peers?
    let why: String?

    /// A replica that lags more revisions is slow; one without a state of this history is stale.
    static let slowRevisions: UInt64 = 500

    private static func status(_ peer: Peer) -> String {
        guard peer.kind == .replica else { return "ok" }
        // It may not have announced its first state yet.
        let isNew = Timestamp.systemClock().milliseconds - peer.since < 10_000
        guard let lag = peer.lag else { return isNew ? "ok" : "stale" }
        return lag > slowRevisions ? "slow" : "ok"
    }

    /// The names of the replicas with a status; `nil` if the list is not known.
    func names(with status: String) -> [String]? {
        peers.map { $0.peers.values.filter { Self.status($0) == status }.map(\.name).sorted() }
    }

    /// Writes the rows, those that lag most first unless they are sorted by another column.
    func write(sortedBy column: String, to writer: inout JSONWriter) throws {
        writer.member("reported", peers != nil)
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
            for peer in (peers.map { Array($0.peers.values) } ?? []).sorted(by: precedes).prefix(GatewayLimits.maxLimit)
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
