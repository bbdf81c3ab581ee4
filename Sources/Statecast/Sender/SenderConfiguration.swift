public import SyncProtocol

/// How a sender reaches its primary.
public struct SenderConfiguration: Sendable {
    /// Where to push; `nil`: where the primary says, which is nearly always right.
    public var actions: String?
    /// Whether to connect beyond this machine though nothing encrypts or checks what passes there.
    public var insecure = false
    /// How many actions may be without a receipt before `send` and `submit` wait, in the order in which they were called.
    /// Dispatched actions do not count.
    public var pendingMax = 4096
    /// The bounds of the protocol.
    public var limits = Limits()

    /// The standard configuration.
    public init() {}
}
