internal import Journal
internal import StateCoding
internal import SyncProtocol
internal import ZeroMQ

/// A store that is not recovered yet.
protocol StoreDefinition: Sendable {
    var name: StoreName { get }
    /// Recovers the state and history from which the store continues. Blocks while it reads.
    func recover(limits: Limits, time: Timestamp) throws(StatecastError) -> any HostableStore
    /// The node was stopped, whether it ever served the store or not.
    func end()
}

/// A store that is recovered, and not served yet.
protocol HostableStore: Sendable {
    var name: StoreName { get }
    func host(in runtime: StoreRuntime) -> any HostedStore
    /// The store will not be hosted.
    func abandon()
}

/// A store as its node sees it: without its types. Used on the node's loop only.
protocol HostedStore: AnyObject {
    var name: StoreName { get }
    var head: Revision { get }
    /// The head, its history, and the primary's incarnation.
    var position: Position { get }
    var nextDeadline: Instant { get }
    /// Whether joins, chunks or local actions are left for the next turn.
    var hasRequests: Bool { get }
    /// Whether the store accepts actions, or they have to wait until the journal has caught up.
    var hasRoom: Bool { get }

    /// The sockets are bound: the store is served from now on.
    func begin()
    func subscribed(to topic: Topic)
    func unsubscribed(from topic: Topic)
    func received(_ frame: ActionsFrame)
    /// Asks a sender to send a frame again later, since the queue of deferred frames is full.
    func postpone(_ frame: ActionsFrame)
    /// Ends a turn of the loop: all of its events have been delivered.
    func endTurn()
    func tick()
    func snapshotEncoded(_ snapshot: EncodedSnapshot)
    /// The records up to `sequence` may be published: they are durable, or the store has no journal or a relaxed one.
    func committed(through sequence: JournalSequence)
    /// The journal has committed records, or failed to.
    func journaled(_ outcome: Result<JournalSequence, JournalFailure>)
    /// Delivers updates that were read from the journal for returning replicas; `nil` if the history cannot serve
    /// them.
    func pastRead(_ updates: [Update]?, after revision: Revision)
    /// A snapshot was stored in the journal, with its size in bytes, or could not be.
    func snapshotStored(_ entry: SnapshotEntry, _ outcome: Result<Int, any Error>)
    /// Processes the local requests made so far, as far as possible, before the store ends.
    func finish()
    /// The store is not served any more.
    func end()
}

/// A whole state, encoded off the loop.
struct EncodedSnapshot: Sendable {
    let revision: Revision
    /// The digest of the published state.
    let digest: UInt64
    let bytes: Result<[UInt8], CodingFailure>
    /// Whether the digest of the encoded state is the published one.
    let isAsPublished: Bool
}

/// The node's services for a store.
struct StoreRuntime {
    let limits: Limits
    let actionsEndpoint: String
    let clock: NodeClock
    let publish: (StoreName, Topic, Frame) -> Void
    /// Reports, then or later, that a record of a store without a journal counts as durable.
    let commit: (StoreName, Record) -> Void
    /// Runs work on the loop, soon. From any thread.
    let onLoop: @Sendable (StoreName, @escaping @Sendable (any HostedStore) -> Void) -> Void
    /// The store, and therefore the node, has failed.
    let fail: (StatecastError) -> Void
    let journalPolicy: JournalPolicy
    /// Runs the work off the loop and passes its result to `snapshotEncoded`.
    let encode: (StoreName, @escaping @Sendable () -> EncodedSnapshot) -> Void
    /// Makes the loop take a turn soon. From any thread.
    let wake: @Sendable () -> Void
}
