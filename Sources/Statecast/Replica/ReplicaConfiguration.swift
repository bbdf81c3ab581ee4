public import SyncProtocol

/// How a replica follows its primary.
public struct ReplicaConfiguration: Sendable {
    /// Whether to connect beyond this machine though nothing encrypts or checks what passes there.
    public var insecure = false
    /// How many messages may wait in memory for this replica; beyond, some are lost and it catches up from the primary.
    public var receiveHighWaterMark = 1000
    /// The bounds of the protocol.
    public var limits = Limits()

    /// The standard configuration.
    public init() {}
}
