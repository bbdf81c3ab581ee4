public import SyncProtocol

/// Where a primary binds, and within which bounds it works.
public struct PrimaryConfiguration: Sendable {
    /// Where replicas and senders subscribe. May end in `:*` for any free port.
    public var publish = "tcp://127.0.0.1:7100"
    /// Where senders push actions. May end in `:*` for any free port.
    public var actions = "tcp://127.0.0.1:7101"
    /// The endpoint for actions as senders are told it; `nil`: the one that was bound. A wildcard host stands for the
    /// host at which the sender reached the primary.
    public var advertiseActions: String?
    /// Whether to bind beyond this machine though nothing encrypts or checks what passes there.
    public var insecure = false
    /// How many messages wait for each subscriber that reads slowly; beyond, it misses some and catches up later. Times
    /// the size of a message it is the memory that one subscriber can hold.
    public var publishHighWaterMark = 1000
    /// How often the journals of its stores get a snapshot, and how much history they keep.
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
}

/// Where a primary is bound, ports filled in, and where its store begins.
public struct PrimaryAddress: Hashable, Sendable {
    /// Where replicas and senders subscribe.
    public let publish: String
    /// Where senders push.
    public let actions: String
}
