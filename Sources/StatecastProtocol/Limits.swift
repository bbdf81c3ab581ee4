/// All limits of the protocol. Sizes are in bytes, times are durations.
///
/// Peers learn the limits that concern them from the welcome and the watermark.
public struct Limits: Hashable, Sendable {
    /// The maximum size of a message, its topic included. Multiplied by the high-water mark it bounds a subscriber's
    /// queue.
    public var maxFrameBytes = 1 << 20
    /// The maximum size of an encoded action.
    public var maxActionBytes = 256 << 10
    /// The maximum size of a snapshot chunk.
    public var maxChunkBytes = 128 << 10
    /// The maximum size of a state that a replica accepts, in a snapshot and after updates.
    public var maxSnapshotBytes = 1 << 30
    /// The maximum number of a session's actions without a receipt, and of the outcomes that the primary remembers for
    /// it.
    public var maxWindowActions = 16_384
    /// The maximum size of a sender's outstanding actions. One larger action may be outstanding alone.
    public var maxWindowBytes = 16 << 20
    /// The minimum size of the actions in a frame while others are outstanding (silly-window avoidance); a smaller
    /// frame is pushed when receipts arrive. If more than four times this size is outstanding, the minimum is a quarter
    /// of that, at most `frameBytesTarget`, also when receipts arrive, and a fifth of the window must be free. 0: no
    /// frame waits.
    public var minFrameBytes = 16 << 10
    /// The maximum size of the actions in a sender's frame. One larger action is pushed alone.
    public var frameBytesTarget = 256 << 10
    /// The maximum number of sessions that a store remembers.
    public var maxSessions = 1024
    /// The maximum number of sessions of one user that a store of a primary with keys remembers. A user who opens more
    /// loses its own idle ones.
    public var maxUserSessions = 256
    /// The maximum rate of one user's actions at a store of a primary with keys, per second; 0: no limit. A frame
    /// counts as at least one action. Frames beyond it wait in the primary for up to a quarter of `minRetryDelay`,
    /// while all frames that wait occupy at most half of `maxHeldBytes`. Otherwise the primary answers `overloaded`,
    /// with the time after which the sender retries.
    public var maxUserActionsPerSecond = 100_000
    /// The maximum size of one user's actions at a store of a primary with keys, per second; 0: no limit.
    public var maxUserBytesPerSecond = 16 << 20
    /// The maximum number of sessions that one user begins at a store of a primary with keys, per second; 0: no limit.
    public var maxUserSessionsPerSecond = 100
    /// The time for which a user who was idle may exceed its rates, as a multiple of them: with 2 seconds, twice as
    /// many actions as in a second may come at once.
    public var maxUserBurst = Duration.seconds(1)
    /// The maximum number of runs of equal outcomes that a store remembers for all sessions; beyond it, it forgets the
    /// longest idle ones of the sessions with more than their share, `maxSessionRuns / maxSessions`, but not those with
    /// actions that are not durable yet. After a start, the bound is at least the number of recovered runs. A run
    /// occupies 56 bytes beside its texts.
    public var maxSessionRuns = 1 << 20
    /// The maximum number of records that are not published yet; beyond it, incoming actions wait.
    public var maxUncommittedRecords = 64
    /// The maximum size of all uncommitted records; beyond it, incoming actions wait.
    public var maxUncommittedBytes = 16 << 20
    /// The maximum memory of the frames that wait for a turn of a store. One user with a rate occupies at most half of
    /// it, and is answered `overloaded` beyond. If the memory is full, the primary leaves further frames in its socket.
    /// If the store waits for its journal, and another store takes frames, it answers `overloaded`.
    public var maxHeldBytes = 32 << 20
    /// The maximum number of subscriptions at a publishing socket, over all of its stores. Without keys, a topic counts
    /// once, with any number of subscribers. Beyond it, the primary closes the connections of the socket, and the
    /// subscribers connect again; a primary with keys refuses those of the user with most subscriptions for a minute. A
    /// topic of the maximum length occupies up to 10 KB in libzmq.
    public var maxSubscriptions = 32_768
    /// The maximum number of subscriptions that the loop answers in one turn, at each publishing socket.
    public var maxSubscriptionsPerTurn = 256
    /// The maximum number of updates that a store keeps for replicas that missed some.
    public var maxRingUpdates = 65_536
    /// The maximum size of the patches that a store keeps for replicas that missed some.
    public var maxRingBytes = 64 << 20
    /// The maximum number of updates that answer a join one by one; more are composed into one.
    public var maxCatchUpUpdates = 32
    /// The maximum number of updates that are composed for one join; a joiner that misses more starts from a snapshot.
    public var maxCatchUpComposed = 16_384
    /// The maximum number of queued joins; beyond it, the primary answers `busy`.
    public var maxWaitingJoins = 4096
    /// The maximum number of joins that a store answers in one turn.
    public var maxJoinsPerTurn = 64
    /// The maximum number of updates that a store composes in one turn; a single join may exceed it.
    public var maxComposedPerTurn = 4096
    /// The size of the chunks after which a store publishes no further one in a turn.
    public var maxChunkBytesPerTurn = 1 << 20
    /// The maximum number of snapshots that are cached for joiners.
    public var maxSnapshots = 3
    /// The time that a snapshot stays cached after its last use.
    public var snapshotRetention = Duration.seconds(120)
    /// The number of chunks that a replica requests ahead.
    public var maxChunksAhead = 8
    /// The maximum size of the updates that a replica buffers while it pulls a snapshot.
    public var maxBacklogBytes = 32 << 20
    /// The interval of the primary's heartbeats. A replica learns it from the primary's first answer, and until then
    /// judges by the interval of its own limits whether a connection delivers nothing.
    public var heartbeatInterval = Duration.seconds(1)
    /// The number of consecutive missed heartbeats after which a replica becomes stale.
    public var maxMissedHeartbeats = 3
    /// The maximum random delay before a replica replaces a connection that has delivered nothing for longer than
    /// `maxMissedHeartbeats` heartbeats, which spreads the replicas of a primary that was stopped.
    public var maxReconnectJitter = Duration.seconds(3)
    /// The maximum silence before a replica replaces its connection again: it doubles with each replacement, until a
    /// message arrives.
    public var maxReconnectDelay = Duration.seconds(60)
    /// The number of consecutive requests without an answer after which a sender replaces its connections; it doubles
    /// with each replacement, up to eight times as many. After as many answers in a row that show no progress of what
    /// was pushed, a sender replaces the connection for actions. A replica replaces its connection after eight times as
    /// many joins without an answer, although heartbeats arrive.
    public var maxUnansweredRequests = 2
    /// The delay before the first retry of a request.
    public var minRetryDelay = Duration.seconds(1)
    /// The maximum delay between retries.
    public var maxRetryDelay = Duration.seconds(10)
    /// The maximum random delay before a replica rejoins after a gap, which spreads the replicas that lost the same
    /// updates.
    public var maxGapJitter = Duration.milliseconds(50)
    /// The maximum size of a rejection's message, in bytes of UTF-8; longer ones are truncated.
    public var maxRejectionMessageBytes = 256
    /// The maximum size of the rejection messages that a session remembers; beyond it, the oldest outcomes keep only
    /// their codes. Multiplied by `maxSessions` it bounds the memory that senders of rejected actions can occupy.
    public var maxSessionMessageBytes = 16 << 10

    /// The standard limits.
    public init() {}

    /// The maximum size of a patch in an update.
    package var maxPatchBytes: Int { maxFrameBytes - Self.maxTopicBytes - 64 }

    /// The maximum size of the outcomes in a frame of receipts.
    package var maxOutcomesBytes: Int { maxFrameBytes - Self.maxTopicBytes - 64 }

    /// The chunk size that also fits a frame.
    package var chunkBytes: Int { max(1, min(maxChunkBytes, maxFrameBytes - Self.maxTopicBytes - 16)) }

    /// The maximum number of frames of actions that a sender has outstanding: a window of the smallest frames.
    package var maxWindowFrames: Int { max(1, maxWindowBytes / max(1, minFrameBytes)) }

    /// The maximum size of a message from a subscriber: a topic and one flag byte, or a handshake command (CURVE's
    /// longest has at least 276 bytes).
    package static let maxSubscriptionBytes = 320
    /// The maximum size of a topic, its closing zero byte included. Longer topics arrive corrupted (libzmq issue
    /// 4564).
    package static let maxTopicBytes = 245
    /// The maximum size of the name of an action. A longer one is not compared with the names of a store's actions.
    package static let maxActionNameBytes = 256
    /// The maximum number of chunks of a snapshot that a replica accepts; it allocates an entry for each when the
    /// offer arrives.
    package static let maxSnapshotChunks = 1 << 20
    /// The maximum number of runs of outcomes in one frame of receipts; readers ignore a frame with more. A byte of a
    /// frame can hold a run, which occupies 56 bytes of memory beside its texts.
    package static let maxReceiptRuns = 4096
}
