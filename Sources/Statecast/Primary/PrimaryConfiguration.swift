import Logging
public import StatecastProtocol
import StatecastZeroMQ

/// A primary's endpoints and bounds.
public struct PrimaryConfiguration: Sendable {
    /// Where replicas and, without `security`, senders subscribe. May end in `:*` for any free port.
    public var publish = "tcp://127.0.0.1:7100"
    /// Where replicas and, without `security`, senders of some stores subscribe instead of at `publish`: an endpoint by
    /// the name of each of these stores.
    ///
    /// ```swift
    /// configuration.storeEndpoints = ["payroll": "tcp://0.0.0.0:7110"]
    /// ```
    ///
    /// A peer that may connect to a publishing socket can read all that it publishes. With `security`, it therefore
    /// needs the right to follow all stores of an endpoint: give stores with different readers different endpoints.
    /// Stores with the same endpoint share a socket, except that `:*` is another port for each of them.
    ///
    /// At the wrong one of these endpoints, a replica or sender is refused with code `not-permitted`, which is final:
    /// if a store moves to another endpoint, configure its replicas and senders first. `publish` is bound even if each
    /// store has an endpoint of its own.
    public var storeEndpoints: [String: String] = [:]
    /// Where senders push actions. May end in `:*` for any free port.
    public var actions = "tcp://127.0.0.1:7101"
    /// The endpoint for actions that senders receive; `nil`: the bound one. A wildcard host stands for the host at
    /// which the sender reached the primary.
    public var advertiseActions: String?
    /// Where senders subscribe to the outcomes of their actions if there is `security`; otherwise unused, and they use
    /// the endpoint for states. May end in `:*` for any free port.
    ///
    /// On their own socket, outcomes are separate from the states, which not every sender may read.
    public var receipts = "tcp://127.0.0.1:7102"
    /// Encrypts the traffic and authenticates the peers; `nil`: plain text, and everyone may connect.
    public var security: PrimarySecurity?
    /// Where the primary may bind without `security`.
    public var plaintext = PlaintextPolicy.thisMachine
    /// The messages that may wait for a slow subscriber; it misses further ones, and catches up later. Multiplied by
    /// the size of a message, it is the memory that one subscriber can occupy.
    public var publishHighWaterMark = 1000
    /// The maximum time for which the node's thread polls its sockets instead of sleeping, in each wait; by default 400
    /// microseconds. Zero or less: it always sleeps.
    ///
    /// It polls only if its previous wait was at most this long, and yields the processor between polls; an idle node
    /// sleeps. Waking a thread takes 20 to 30 microseconds, and an action wakes several threads in turn, so this about
    /// halves the latency of a single action. It costs CPU time: after each short wait up to this time, and up to a
    /// whole core if messages arrive at shorter intervals. Turn it off under a CPU quota.
    public var maxBusyPolling = NodeDefaults.maxBusyPolling
    /// The most memory that the process may use before the node closes its connections, in bytes; `nil`: no limit.
    ///
    /// A second line against peers whose messages libzmq collects without a bound, see docs/SECURING.md: peers connect
    /// again and lose nothing. Each node compares the memory of the whole process, so set it above what the program and
    /// its states need, and below the limit of the service manager.
    public var maxMemory: Int?
    /// How long a standby waits for a sign of the leader before it takes over, where nodes share their journals. A
    /// leader that cannot write for half a second less than that publishes nothing more.
    public var leaseTime = Duration.seconds(3)
    /// Whether each store lists who is connected to it, as a store of its own, `<store>.peers`: see ``Peers``. With
    /// `security`, it is published only if ``storeEndpoints`` has an endpoint for it that no store has.
    public var peers = true
    /// The snapshots and the history of its stores' journals.
    public var journal = JournalPolicy()
    /// The bounds of the protocol.
    public var limits = Limits()

    /// The standard configuration: the two ports 7100 and 7101 on this machine.
    public init() {}

    /// A configuration for two endpoints.
    public init(publish: String, actions: String) {
        self.publish = publish
        self.actions = actions
    }

    /// The endpoints for states, each with its stores. The first one is ``publish``, even if it has no store.
    ///
    /// - Throws: ``StatecastError`` with code `definition` if a store with an endpoint is not among the stores;
    ///   `endpoint` or `insecure`.
    func feeds(of stores: Set<StoreName>) throws(StatecastError) -> [Feed] {
        let served = Set(stores.map(\.text))
        if let name = storeEndpoints.keys.sorted().first(where: { !served.contains($0) }) {
            throw StatecastError(
                .definition,
                "storeEndpoints has an endpoint for the store \"\(name)\", which the node does not serve, only: "
                    + served.sorted().joined(separator: ", ")
            )
        }
        var feeds: [Feed] = [(try endpoint(publish), stores.filter { storeEndpoints[$0.text] == nil })]
        for store in stores.sorted() {
            guard let endpoint = try storeEndpoints[store.text].map(endpoint) else { continue }
            if !endpoint.isChosenByBind, let shared = feeds.firstIndex(where: { $0.endpoint == endpoint }) {
                feeds[shared].stores.insert(store)
            } else {
                feeds.append((endpoint, [store]))
            }
        }
        // A handshake at the endpoint needs the right to each of its stores.
        if security != nil,
            let list = stores.first(where: { list in
                list.isOfPeers && feeds.contains { $0.stores.contains(list) && !$0.stores.allSatisfy(\.isOfPeers) }
            })
        {
            throw StatecastError(
                .definition,
                "with keys, \(list) needs an endpoint that no other store has, in storeEndpoints or by --peers"
            )
        }
        return feeds
    }

    /// The lists of peers that are published beside stores.
    package func peerStores(of stores: Set<StoreName>) -> Set<StoreName> {
        guard peers else { return [] }
        return Set(stores.compactMap(\.peers)).filter { security == nil || storeEndpoints[$0.text] != nil }
    }

    /// Parses an endpoint, and refuses one where the primary may not bind.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` or `insecure`.
    func endpoint(_ text: String) throws(StatecastError) -> Endpoint {
        try EndpointPolicy.bindable(text, plaintext, isEncrypted: security != nil)
    }

    /// A publishing socket for states.
    typealias Feed = (endpoint: Endpoint, stores: Set<StoreName>)
}

/// The endpoints that a primary has bound, with their ports.
public struct PrimaryAddress: Hashable, Sendable {
    /// Where replicas and, without ``receipts``, senders subscribe.
    public let publish: String
    /// Where those of the stores in `PrimaryConfiguration.storeEndpoints` subscribe instead, by the store's name.
    public let storeEndpoints: [String: String]
    /// Where senders push.
    public let actions: String
    /// Where senders subscribe, if the traffic is encrypted.
    public let receipts: String?

    /// For a log.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["publish": "\(publish)", "actions": "\(actions)"]
        for (store, endpoint) in storeEndpoints { metadata["publish.\(store)"] = "\(endpoint)" }
        metadata["receipts"] = receipts.map { "\($0)" }
        return metadata
    }
}

/// When a journal stores a snapshot, and how much history it keeps.
public struct JournalPolicy: Hashable, Sendable {
    /// The bytes of records after which a snapshot is stored, or the size of the state if that is larger, so that
    /// snapshots never occupy more space than records. Bounds the bytes that a start has to read.
    public var snapshotBytes = 32 << 20
    /// The number of records after which a snapshot is stored, regardless of their size.
    public var snapshotRecords = 100_000
    /// The minimum bytes of records to keep, for time travel.
    public var historyBytes = 1 << 30

    /// The standard policy.
    public init() {}
}
