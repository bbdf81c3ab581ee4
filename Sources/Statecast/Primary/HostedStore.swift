internal import ZeroMQ

/// A store as the node sees it: without its types. Lives on the node's loop.
protocol HostedStore: AnyObject {
    var name: StoreName { get }
    var head: Revision { get }
    /// The head, in which history and by which incarnation of the primary.
    var position: Position { get }
    var nextDeadline: Instant { get }
    /// Whether joins, chunks or actions of the primary's own process were left for the next turn.
    var hasRequests: Bool { get }

    /// The sockets are bound: what may only happen once the store is served begins here.
    func begin()
    func subscribed(to topic: Topic)
    func unsubscribed(from topic: Topic)
    func received(_ frame: ActionsFrame)
    /// Everything that this turn brought has been handed over.
    func endTurn()
    func tick()
    func snapshotEncoded(_ snapshot: EncodedSnapshot)
    /// The records up to one are durable.
    func committed(through sequence: JournalSequence)
    /// Takes what its own process asked for before now, as far as it can be done: the store is about to end.
    func finish()
    /// The store is not served any more.
    func end()
}

/// A whole state, encoded off the loop.
struct EncodedSnapshot: Sendable {
    let revision: Revision
    /// The digest of what was published.
    let digest: UInt64
    let bytes: Result<[UInt8], CodingFailure>
    /// Whether the whole state has that digest, too.
    let isAsPublished: Bool
}

/// What a store needs from the node that it lives on.
struct StoreSurroundings {
    let lineage: Lineage
    let epoch: Epoch
    let limits: Limits
    let actionsEndpoint: String
    let clock: NodeClock
    let publish: (StoreName, Topic, Frame) -> Void
    /// Makes a record durable and says so to `committed`, then or later.
    let commit: (StoreName, Record) -> Void
    /// Runs the work off the loop and hands its result to `snapshotEncoded`.
    let encode: (StoreName, @escaping @Sendable () -> EncodedSnapshot) -> Void
    /// Makes the loop take a turn soon. From any thread.
    let wake: @Sendable () -> Void
}

/// A store before its node has started: everything but the surroundings.
protocol StoreDefinition: Sendable {
    var name: StoreName { get }
    func host(in surroundings: StoreSurroundings) -> any HostedStore
    /// The node was stopped, whether it ever served the store or not.
    func end()
}
