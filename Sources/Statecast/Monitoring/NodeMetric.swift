import Metrics

/// The metrics of the nodes, as docs/MONITORING.md lists them: each with its name, and after a space what it tells an
/// operator.
///
/// Those that begin with `statecast_debug_` may change with any release.
package enum NodeMetric: String, CaseIterable, Sendable {
    case primaryActionsApplied = "statecast_primary_actions_applied_total Applied actions."
    case primaryActionsRejected = "statecast_primary_actions_rejected_total Final rejections, by code."
    case primaryActionsDuplicate = "statecast_primary_actions_duplicate_total Repeated actions."
    case primaryFramesOutOfOrder = "statecast_primary_frames_out_of_order_total Frames ahead of the expected number."
    case primaryFramesOtherLineage = "statecast_primary_frames_other_lineage_total Frames for another lineage."
    case primaryRequestsRefused = """
        statecast_primary_requests_refused_total Refused joins, chunks, sessions, frames, and uses of another \
        user's session, by code.
        """
    case primaryMessagesDropped = """
        statecast_primary_messages_dropped_total Messages that reach no store, by code: malformed, too large, not \
        permitted, or for an unknown store.
        """
    case primarySocketsRenewed = """
        statecast_primary_sockets_renewed_total Disconnections of all peers, for maxSubscriptions, maxMemory or the \
        access list.
        """
    case primaryConnections = "statecast_primary_connections Open connections."
    case primaryConnectionsAccepted = "statecast_primary_connections_accepted_total Accepted connections."
    case primaryAccessListsInvalid = "statecast_primary_access_lists_invalid Invalid access lists."
    case primaryPeersRefused = "statecast_primary_peers_refused_total Refused connections."
    case primaryUsersBanned = "statecast_primary_users_banned_total Bans of users."
    case primarySessionsOpened = "statecast_primary_sessions_opened_total Opened sessions."
    case primaryJoins = "statecast_primary_joins_total Answered joins."
    case primaryJoinsAbandoned = "statecast_primary_joins_abandoned_total Joins whose replica left."
    case primaryJoinsWaiting = "statecast_primary_joins_waiting Waiting joins."
    case primaryChunks = "statecast_primary_chunks_total Published chunks of snapshots."
    case primaryBatches = "statecast_primary_batches_total Batches."
    case primaryBatchActions = "statecast_primary_batch_actions Actions in a batch."
    case primaryPatchBytes = "statecast_primary_patch_bytes Bytes of a patch."
    case primaryTurnDurationSeconds = """
        statecast_primary_turn_duration_seconds Duration of a turn with actions: reducing and publishing.
        """
    case primaryReduceDurationSeconds = """
        statecast_primary_reduce_duration_seconds Duration of a turn's reduction: middlewares, reducer, and patch.
        """
    case primaryWaitDurationSeconds = """
        statecast_primary_wait_duration_seconds How long the oldest frame of a turn had waited at the primary.
        """
    case primaryEffectsRunning = "statecast_primary_effects_running Running units of work of effects."
    case primaryEffectsFailed = "statecast_primary_effects_failed_total Effects whose work threw an error."
    case primaryStorageFull = "statecast_primary_storage_full 1 while the journal has no room, else 0."
    case primaryRecordsRecovered = "statecast_primary_records_recovered Records that the recovery has replayed."
    case primaryRecordsToRecover = "statecast_primary_records_to_recover Records after the recovered snapshot."
    case primaryEpoch = "statecast_primary_epoch The incarnation of the store."
    case primaryRevision = "statecast_primary_revision The last published revision."
    case primarySessions = "statecast_primary_sessions Remembered sessions."
    case primaryStateBytes = "statecast_primary_state_bytes Bytes of the encoded state."
    case primaryHeldBytes = "statecast_primary_held_bytes Bytes of the frames that wait to be reduced."
    case primaryLeading = "statecast_primary_leading 1 if the node leads, 0 if it stands by."
    case primaryLeaseSeconds = """
        statecast_primary_lease_seconds For how long the node may serve without another confirmed commit.
        """
    case primaryStandbyLagRecords = """
        statecast_primary_standby_lag_records Records of the leader that a standby has not copied.
        """
    case primaryTakeovers = "statecast_primary_takeovers_total How often the node became the leader."
    case journalCommits = "statecast_journal_commits_total Commits."
    case journalCommitDurationSeconds = "statecast_journal_commit_duration_seconds Duration of a commit."
    case journalCommitRecords = "statecast_journal_commit_records Records in a commit."
    case journalBytes = "statecast_journal_bytes_total Bytes of committed records."
    case journalFull = "statecast_journal_full_total Commits that failed on a full disk."
    case journalCommitsUnknown = """
        statecast_journal_commits_unknown_total Commits to a shared database whose outcome was unknown.
        """
    case journalSizeBytes = "statecast_journal_size_bytes Bytes of the journal's files."
    case journalOldestRevision = "statecast_journal_oldest_revision The revision at which the kept history begins."
    case journalLastSnapshotSeconds = """
        statecast_journal_last_snapshot_timestamp_seconds When the last snapshot was stored, in seconds since 1970.
        """
    case journalLastBackupSeconds = """
        statecast_journal_last_backup_timestamp_seconds When the last backup was made, in seconds since 1970.
        """
    case journalSnapshots = "statecast_journal_snapshots_total Stored snapshots."
    case journalSnapshotsFailed = "statecast_journal_snapshots_failed_total Failed snapshots."
    case journalSnapshotBytes = "statecast_journal_snapshot_bytes_total Bytes of the states of stored snapshots."
    case replicaUpdates = "statecast_replica_updates_total Applied updates."
    case replicaPatchBytes = "statecast_replica_patch_bytes_total Bytes of the patches of applied updates."
    case replicaJoins = "statecast_replica_joins_total Requested joins."
    case replicaJoinsRefused = "statecast_replica_joins_refused_total Refused joins, by code."
    case replicaReconnects = """
        statecast_replica_reconnects_total Connections replaced because they delivered nothing, or carried no \
        joins.
        """
    case replicaGaps = "statecast_replica_gaps_total Gaps in the updates."
    case replicaSnapshots = "statecast_replica_snapshots_total Pulled snapshots."
    case replicaSnapshotBytes = "statecast_replica_snapshot_bytes_total Bytes of pulled snapshots."
    case replicaRewound = "statecast_replica_rewound_total Returns to an earlier revision."
    case replicaDiverged = "statecast_replica_diverged_total Updates that did not fit, or digests that differed."
    case replicaBacklogOverflows = "statecast_replica_backlog_overflows_total Pulls that too many updates interrupted."
    case replicaMessagesUnreadable = "statecast_replica_messages_unreadable_total Unreadable messages."
    case replicaLive = "statecast_replica_live 1 while the replica shows the present state, else 0."
    case replicaLagSeconds = """
        statecast_replica_lag_seconds Time since the replica last showed the present state; 0 while it does.
        """
    case replicaLagRevisions = """
        statecast_replica_lag_revisions Revisions from the shown state to the primary's newest one.
        """
    case replicaQueueSteps = "statecast_debug_replica_queue_steps Steps dequeued at once."
    case senderActionsApplied = "statecast_sender_actions_applied_total Receipts."
    case senderActionsRejected = """
        statecast_sender_actions_rejected_total Actions that ended without a receipt, by code.
        """
    case senderActionsPushed = "statecast_sender_actions_pushed_total Pushed actions, repetitions included."
    case senderFrames = "statecast_sender_frames_total Pushed frames."
    case senderWatermarksAsked = "statecast_debug_sender_watermarks_asked_total Requests for the watermark."
    case senderReconnects = "statecast_sender_reconnects_total Connections replaced for lack of answers or progress."
    case senderRewound = "statecast_sender_rewound_total Returns to the expected number."
    case senderLineagesChanged = "statecast_sender_lineages_changed_total New histories."
    case senderOutcomesLost = """
        statecast_sender_outcomes_lost_total Losses of reported outcomes, with a durability below full.
        """
    case senderRequestsRefused = "statecast_sender_requests_refused_total Refusals, by code."
    case senderReceiptDurationSeconds = """
        statecast_sender_receipt_duration_seconds From submitting an action to its receipt, for one action at a time.
        """
    case senderOpen = "statecast_sender_open 1 while the sender reaches the primary, else 0."
    case senderOutboxActions = "statecast_sender_outbox_actions Actions without a receipt."

    /// The name.
    package var label: String { String(rawValue.prefix { $0 != " " }) }
    /// What it tells.
    package var help: String { String(rawValue.dropFirst(label.count + 1)) }

    func counter(_ dimensions: [(String, String)] = []) -> Counter { Counter(label: label, dimensions: dimensions) }
    func gauge(_ dimensions: [(String, String)] = []) -> Gauge { Gauge(label: label, dimensions: dimensions) }
    func recorder(_ dimensions: [(String, String)] = []) -> Recorder {
        Recorder(label: label, dimensions: dimensions)
    }
    func timer(_ dimensions: [(String, String)] = []) -> Timer { Timer(label: label, dimensions: dimensions) }
}

extension Timer {
    /// Takes a third of the instructions of `record(duration:)`.
    func record(_ duration: Duration) { recordNanoseconds(Int64(duration / .nanoseconds(1))) }
}
