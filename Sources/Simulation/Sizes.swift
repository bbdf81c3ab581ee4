import SyncProtocol

/// What fits into the queues, tables and turns of a cluster.
struct Sizes: Sendable {
    var limits = Limits()
    /// The messages that may wait in each subscriber's pipe.
    var queueMax = 2000
    /// Whether a turn reduces only a few actions.
    var hasShortTurns = false
    /// Whether sessions are evicted that are in use: the outcomes of their actions may be unknown.
    var evictsUsedSessions = false

    /// Those of production.
    static let standard = Sizes()

    /// So small that runs often reach them.
    static let tiny: Sizes = {
        var sizes = Sizes(queueMax: 40, hasShortTurns: true, evictsUsedSessions: true)
        sizes.limits.sessionsMax = 2
        sizes.limits.sessionRunsMax = 40
        sizes.limits.frameBytesMax = Limits.topicBytesMax + 64 + 900
        sizes.limits.actionBytesMax = 400
        sizes.limits.windowActionsMax = 8
        sizes.limits.windowBytesMax = 400
        sizes.limits.frameBytesMin = 40
        sizes.limits.frameBytesTarget = 120
        sizes.limits.uncommittedRecordsMax = 4
        sizes.limits.heldBytesMax = 4000
        sizes.limits.catchUpUpdatesMax = 3
        sizes.limits.catchUpComposedMax = 20
        sizes.limits.ringUpdatesMax = 40
        sizes.limits.chunkBytesMax = 200
        sizes.limits.chunksAheadMax = 2
        sizes.limits.backlogBytesMax = 2500
        sizes.limits.joinsPerTurnMax = 1
        sizes.limits.joinsWaitingMax = 2
        sizes.limits.chunkBytesPerTurnMax = 400
        sizes.limits.snapshotsMax = 2
        sizes.limits.snapshotRetention = .seconds(5)
        return sizes
    }()
}
