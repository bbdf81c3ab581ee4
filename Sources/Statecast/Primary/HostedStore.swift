internal import Journal
internal import StateCoding
internal import SyncProtocol
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
    /// Tells a sender to come again with a frame that there is no room for.
    func putOff(_ frame: ActionsFrame)
    /// Everything that this turn brought has been handed over.
    func endTurn()
    func tick()
    func snapshotEncoded(_ snapshot: EncodedSnapshot)
    /// The records up to one are durable.
    func committed(through sequence: JournalSequence)
    /// What became of records that the journal was handed.
    func journaled(_ outcome: Result<JournalSequence, JournalFailure>)
    /// What was read from the journal for replicas that had been away.
    func pastRead(_ updates: [Update]?, after revision: Revision)
    /// What became of a snapshot for the journal.
    func snapshotStored(_ entry: SnapshotEntry, _ outcome: Result<Int, any Error>)
    /// Whether more actions may be taken, or have to wait until the journal has caught up.
    var hasRoom: Bool { get }
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
    let limits: Limits
    let actionsEndpoint: String
    let clock: NodeClock
    let publish: (StoreName, Topic, Frame) -> Void
    /// Says, then or later, that a record which no journal keeps counts as durable.
    let commit: (StoreName, Record) -> Void
    /// Runs something on the loop, soon. From any thread.
    let onLoop: @Sendable (StoreName, @escaping @Sendable (any HostedStore) -> Void) -> Void
    /// The store cannot go on, and the node must not.
    let fail: (StatecastError) -> Void
    let journalPolicy: JournalPolicy
    /// Runs the work off the loop and hands its result to `snapshotEncoded`.
    let encode: (StoreName, @escaping @Sendable () -> EncodedSnapshot) -> Void
    /// Makes the loop take a turn soon. From any thread.
    let wake: @Sendable () -> Void
}

/// A store before its node has started: everything but where it goes on from.
protocol StoreDefinition: Sendable {
    var name: StoreName { get }
    /// Finds out where the store goes on from. Blocks while it reads.
    func recover(limits: Limits, time: Timestamp) throws(StatecastError) -> any HostableStore
    /// The node was stopped, whether it ever served the store or not.
    func end()
}

/// A store that knows where it goes on from: everything but the surroundings.
protocol HostableStore: Sendable {
    var name: StoreName { get }
    func host(in surroundings: StoreSurroundings) -> any HostedStore
    /// It will not be hosted.
    func abandon()
}
