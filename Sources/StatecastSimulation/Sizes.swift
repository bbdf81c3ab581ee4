import StatecastProtocol

/// What fits into the queues, tables and turns of a cluster.
struct Sizes: Sendable {
    var limits = Limits()
    /// The messages that may wait in each subscriber's pipe.
    var maxQueue = 2000
    /// Whether a turn reduces only a few actions.
    var hasShortTurns = false
    /// Whether sessions are evicted that are in use: the outcomes of their actions may be unknown.
    var evictsUsedSessions = false

    /// Those of production.
    static let standard = Sizes()

    /// So small that runs often reach them.
    static let tiny: Sizes = {
        var sizes = Sizes(maxQueue: 40, hasShortTurns: true, evictsUsedSessions: true)
        sizes.limits.maxSessions = 2
        sizes.limits.maxSessionRuns = 40
        sizes.limits.maxFrameBytes = Limits.maxTopicBytes + 64 + 900
        sizes.limits.maxActionBytes = 400
        sizes.limits.maxWindowActions = 8
        sizes.limits.maxWindowBytes = 400
        sizes.limits.minFrameBytes = 40
        sizes.limits.frameBytesTarget = 120
        sizes.limits.maxUncommittedRecords = 4
        sizes.limits.maxHeldBytes = 4000
        sizes.limits.maxCatchUpUpdates = 3
        sizes.limits.maxCatchUpComposed = 20
        sizes.limits.maxRingUpdates = 40
        sizes.limits.maxChunkBytes = 200
        sizes.limits.maxChunksAhead = 2
        sizes.limits.maxBacklogBytes = 2500
        sizes.limits.maxJoinsPerTurn = 1
        sizes.limits.maxWaitingJoins = 2
        sizes.limits.maxChunkBytesPerTurn = 400
        sizes.limits.maxSnapshots = 2
        sizes.limits.snapshotRetention = .seconds(5)
        return sizes
    }()
}
