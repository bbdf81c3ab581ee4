internal import ZeroMQ

/// A store as the node sees it: without its types. Lives on the node's loop.
protocol HostedStore: AnyObject {
    var name: StoreName { get }
    var head: Revision { get }
    /// The head, in which history and by which incarnation of the primary.
    var position: Position { get }
    var nextDeadline: Instant { get }
    /// Whether joins or chunks were left for the next turn.
    var hasRequests: Bool { get }

    func subscribed(to topic: Topic)
    func unsubscribed(from topic: Topic)
    func received(_ frame: ActionsFrame)
    /// Everything that this turn brought has been handed over.
    func endTurn()
    func tick()
    func snapshotEncoded(_ snapshot: EncodedSnapshot)
}

/// A whole state, encoded off the loop.
struct EncodedSnapshot: Sendable {
    let revision: Revision
    let digest: UInt64
    let bytes: Result<[UInt8], CodingFailure>
}

/// What a store needs from the node that it lives on.
struct StoreSurroundings {
    let lineage: Lineage
    let epoch: Epoch
    let limits: Limits
    let actionsEndpoint: String
    let clock: NodeClock
    let publish: (StoreName, Topic, Frame) -> Void
    /// Runs the work off the loop and hands its result to `snapshotEncoded`.
    let encode: (StoreName, @escaping @Sendable () -> EncodedSnapshot) -> Void
}

/// A store before its node has started: everything but the surroundings.
protocol StoreDefinition: Sendable {
    var name: StoreName { get }
    func host(in surroundings: StoreSurroundings) -> any HostedStore
}
