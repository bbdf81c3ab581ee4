/// Every bound of the protocol, by name and in one place. Sizes in bytes, times as durations.
///
/// What a peer needs to know of them it is told in the welcome and in the watermark.
public struct Limits: Hashable, Sendable {
    /// The most bytes of one message, its topic included. Times the high-water mark it bounds a subscriber's queue.
    public var frameBytesMax = 1 << 20
    /// The most bytes of one encoded action.
    public var actionBytesMax = 256 << 10
    /// The most bytes of one chunk of a snapshot.
    public var chunkBytesMax = 128 << 10
    /// The most bytes of a state that a replica accepts, in a snapshot and after updates.
    public var snapshotBytesMax = 1 << 30
    /// The most actions of one session that may be without a receipt, and the outcomes that a session remembers.
    public var windowActionsMax = 1024
    /// The most sessions that a store remembers.
    public var sessionsMax = 1024
    /// The most records that wait to be made durable; beyond, actions wait on their way.
    public var uncommittedRecordsMax = 64
    /// The most bytes of records that wait to be made durable; beyond, actions wait on their way.
    public var uncommittedBytesMax = 16 << 20
    /// The most bytes of actions that a primary of several stores holds for one whose journal has no room, while it goes on
    /// with the others; beyond, the answer is `overloaded`.
    public var heldBytesMax = 16 << 20
    /// The most topics, of all stores, that are subscribed to at the same time; beyond, the primary closes all
    /// connections of subscribers, which reconnect by themselves. A topic costs up to 32 bytes of memory for
    /// each byte of its text.
    public var topicsMax = 10_000
    /// The most subscriptions that are answered in one turn of the loop.
    public var subscriptionsPerTurnMax = 64
    /// The most updates that a store keeps for replicas that missed some.
    public var ringUpdatesMax = 65_536
    /// The most bytes of patches that a store keeps for replicas that missed some.
    public var ringBytesMax = 64 << 20
    /// The most updates that a join is answered with one by one; beyond, they are composed into one.
    public var catchUpUpdatesMax = 32
    /// The most updates that are composed into one for a join; beyond, it starts from a snapshot.
    public var catchUpComposedMax = 16_384
    /// The most joins that wait for their turn; beyond, the answer is `busy`.
    public var joinsWaitingMax = 4096
    /// The most joins that are answered in one turn of the loop.
    public var joinsPerTurnMax = 64
    /// The most updates that are composed for joins in one turn of the loop; one join may exceed it.
    public var composedPerTurnMax = 4096
    /// The most bytes of chunks that are published in one turn of the loop.
    public var chunkBytesPerTurnMax = 1 << 20
    /// The most snapshots that are kept for joiners at the same time.
    public var snapshotsMax = 3
    /// How long a snapshot is kept after it was last offered or asked for.
    public var snapshotRetention = Duration.seconds(120)
    /// How many chunks a replica asks for ahead.
    public var chunksAheadMax = 8
    /// The most bytes of updates that a replica holds back while it pulls a snapshot.
    public var backlogBytesMax = 32 << 20
    /// How often a primary says where it stands.
    public var heartbeatInterval = Duration.seconds(1)
    /// How many heartbeats in a row may be missing before a replica calls what it shows stale.
    public var heartbeatsMissedMax = 3
    /// How long to wait for the first answer before asking again.
    public var retryDelayMin = Duration.seconds(1)
    /// The longest wait before asking again.
    public var retryDelayMax = Duration.seconds(10)
    /// The longest random delay before joining again after a gap, so that replicas that lost together ask apart.
    public var gapJitterMax = Duration.milliseconds(50)
    /// The longest message of a rejection, in bytes of UTF-8; longer ones are cut.
    public var rejectionMessageBytesMax = 256
    /// The most bytes of messages of rejections that a session remembers; beyond, the oldest outcomes keep only their
    /// codes. Times `sessionsMax` it bounds what senders of rejected actions can make a store hold.
    public var sessionMessageBytesMax = 16 << 10

    /// The standard limits.
    public init() {}

    /// The most bytes of a patch that an update has room for.
    package var patchBytesMax: Int { frameBytesMax - Self.topicBytesMax - 64 }

    /// The bytes of a chunk: also where the bound of a frame is the smaller one.
    package var chunkBytes: Int { max(1, min(chunkBytesMax, frameBytesMax - Self.topicBytesMax - 16)) }

    /// The most bytes that a primary accepts from a subscriber in one message: a topic and one flag byte, or a command of
    /// the handshake, of which CURVE's longest has 276 bytes and more.
    package static let subscriptionBytesMax = 320
    /// The most bytes of a topic, its closing zero byte included: longer ones arrive corrupted (libzmq issue 4564).
    package static let topicBytesMax = 245
    /// The most chunks in which a replica accepts a snapshot: it keeps an entry for each from the offer on.
    package static let snapshotChunksMax = 1 << 20
}
