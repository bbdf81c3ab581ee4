/// A fault in production code that exists only to be found: the simulation proves with it that its checks notice such a
/// fault. `Tests/EndToEndTests/SimulateTests.swift` names a seed that finds each one.
///
/// Faults can be planted in debug builds only. In release, ``isPlanted`` is the constant `false`.
package enum PlantedFault: String, CaseIterable, Sendable {
    // The primary's engine.

    /// A batch is published when it is passed to the journal.
    case publishesBeforeDurable
    /// A stored snapshot lacks the sessions.
    case storesSnapshotWithoutSessions
    /// A stored snapshot has the published state, and the revision of the last batch.
    case storesSnapshotUnderOtherRevision
    /// The watermark names the last reduced number.
    case sendsUndurableWatermark
    /// A replica's position is valid even if an incarnation published it that lost it.
    case trustsLostPositions
    /// A welcome names the revision after the head.
    case welcomesWithWrongHead
    /// The last update of a composed answer is missing.
    case composesWithoutLastUpdate
    /// Actions that are known are not answered with their receipts.
    case answersNoKnownActions
    /// The effects of a batch that is rolled back are started.
    case startsEffectsOfRolledBackBatches
    /// A full disk does not roll back the session that was used last.
    case keepsNumberOfOneSession
    /// The rest of a frame that was split between turns is not admitted again.
    case admitsNoRestOfFrame
    /// An action is applied without the right to it.
    case ignoresRights
    /// A user without the right to one action of a store may send none.
    case needsAllRights
    /// A user continues a session of another user.
    case ignoresOwner
    /// A sender's `lowest` trims outcomes that are not durable.
    case trimsUndurableOutcomes
    /// A session is evicted although it has actions that are not durable.
    case evictsActiveSessions
    /// An evicted session is taken for a new one.
    case admitsEvictedSessions
    /// A session that was opened after a record that is lost is opened again.
    case admitsSessionsAfterLostRecords
    /// The mark of an action stays after its reduction.
    case leavesMarkOfReducedAction
    /// The rest of a run of outcomes has the first revision of the whole run.
    case cutsRunsWithoutRevision
    /// A start reuses the number of the last incarnation.
    case reusesEpoch

    // The journal.

    /// A record is noted as acknowledged with the next commit, after its receipts.
    case acknowledgesAfterReceipts

    // The replica.

    /// A replica joins before it subscribes to the feed.
    case joinsBeforeFeed
    /// A replica applies an update that does not continue its position.
    case appliesUpdatesWithGap
    /// A replica follows an incarnation that ended.
    case followsLowerEpoch
    /// A replica that pulls a snapshot buffers without a bound.
    case buffersWithoutBound

    // The sender.

    /// A refusal that a later try would overcome is reported as the action's rejection.
    case reportsTransientRefusal
    /// A refusal is followed although it answers another frame.
    case followsForeignRefusals
    /// A run of receipts resolves one action more.
    case resolvesOneMore
    /// An action is sent before it is in the session file.
    case sendsBeforeSaved
    /// An outcome that a sender decides is reported before it is in the session file.
    case reportsUnsavedDecisions
    /// The session file drops an outcome that the sender has decided and not yet reported.
    case dropsUnreportedOutcomes
    /// A primary that lost acknowledged outcomes is not noticed.
    case missesLostOutcomes
    /// Actions that were sent in another lineage are sent again.
    case resendsInOtherLineage

    #if DEBUG
        package static let canBePlanted = true

        /// The fault that is planted in what the current task calls.
        @TaskLocal package static var current: PlantedFault?

        package var isPlanted: Bool { Self.current == self }
    #else
        package static let canBePlanted = false

        @inlinable
        package var isPlanted: Bool { false }
    #endif
}
