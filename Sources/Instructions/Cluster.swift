import StatecastCoding
import StatecastProtocol

/// A sender, a primary and a replica, which exchange encoded messages in memory, one after the other.
struct Cluster<Workload: Load> {
    enum Node {
        case sender
        case primary
        case replica
    }

    private var sender: MemorySender<Workload.Input>
    private var primary: MemoryPrimary<Workload.State>
    private var replica: MemoryReplica<Workload.State>

    /// Creates the nodes and connects them.
    init(_ load: Workload.Type, hasJournal: Bool) throws {
        let store = try StoreName("store")
        sender = MemorySender(store)
        primary = try MemoryPrimary(store, load, hasJournal: hasJournal)
        replica = MemoryReplica(store)
        var topics = try sender.start() + replica.start()
        while !topics.isEmpty {
            let messages = topics.flatMap { primary.subscribe(to: $0) }
            topics = try sender.receive(messages) + replica.receive(messages)
        }
    }

    /// Sends actions in one frame, up to their receipts and the state of the replica. The instructions of one node
    /// count.
    mutating func send(_ actions: [Workload.Input], counting node: Node?) throws {
        var frames: [[UInt8]] = []
        try collect(node == .sender) { frames = try sender.send(actions) }
        precondition(frames.count == 1, "\(actions.count) actions became \(frames.count) frames")
        var published: [[UInt8]] = []
        try collect(node == .primary) { published = primary.receive(frames[0]) }
        // As libzmq does, which compares the beginnings of messages with subscriptions.
        let receipts = published.filter { sender.isSubscribed(to: $0) }
        let updates = published.filter { replica.isSubscribed(to: $0) }
        precondition(receipts.count == 1 && updates.count == 1, "a turn publishes one update and its receipts")
        try collect(node == .sender) { _ = try sender.receive(receipts) }
        try collect(node == .replica) { _ = try replica.receive(updates) }
    }

    /// Checks that the work was done.
    func checkAllArrived() {
        precondition(sender.pendingCount == 0, "\(sender.pendingCount) actions have no receipt")
        precondition(replica.state == primary.state, "the replica has another state than the primary")
    }
}

/// The subscriptions of a node.
struct Subscriptions {
    private let store: StoreName
    private var prefixes: [[UInt8]] = []

    init(of store: StoreName) { self.store = store }

    mutating func insert(_ topic: Topic) { prefixes.append(Address(store, topic).bytes) }
    mutating func remove(_ topic: Topic) { prefixes.removeAll { $0 == Address(store, topic).bytes } }
    func contains(_ message: [UInt8]) -> Bool { prefixes.contains { message.starts(with: $0) } }
}
