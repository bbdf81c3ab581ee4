import Metrics

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The metrics of the nodes, as docs/MONITORING.md lists them: each with its name, and after a space what it tells an
/// operator.
///
/// Those that begin with `statecast_debug_` may change with any release.
package enum NodeMetric: String, CaseIterable, Sendable {
    case primaryActionsApplied = "statecast_primary_actions_applied_total Applied actions."
    case primaryActionsRejected = "statecast_primary_actions_rejected_total Final rejections, by code."
    case primaryActionsDuplicate = """
        statecast_primary_actions_duplicate_total Actions that had an outcome already, which was answered again.
        """
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
    case primaryAccessListsInvalid = """
        statecast_primary_access_lists_invalid Access lists that cannot be used; the ones before stay in effect.
        """
    case primaryPeersRefused = """
        statecast_primary_peers_refused_total Connections that the access list or a ban refused.
        """
    case primaryUsersBanned = "statecast_primary_users_banned_total Bans of users."
    case primarySessionsOpened = "statecast_primary_sessions_opened_total Opened sessions."
    case primaryJoins = "statecast_primary_joins_total Answered joins."
    case primaryJoinsAbandoned = "statecast_primary_joins_abandoned_total Joins whose replica left."
    case primaryJoinsWaiting = "statecast_primary_joins_waiting Waiting joins."
    case primaryChunks = "statecast_primary_chunks_total Published chunks of snapshots."
    case primaryBatches = "statecast_primary_batches_total Published batches."
    case primaryBatchActions = "statecast_primary_batch_actions Actions in a batch."
    case primaryPatchBytes = "statecast_primary_patch_bytes Bytes of a patch."
    case primaryTurnDurationSeconds = """
        statecast_primary_turn_duration_seconds Duration of a turn that reduced actions, with publishing what was \
        stored meanwhile.
        """
    case primaryReduceDurationSeconds = """
        statecast_primary_reduce_duration_seconds Duration of reducing the actions of a turn: middlewares, reducer, \
        patch and record.
        """
    case primaryWaitDurationSeconds = """
        statecast_primary_wait_duration_seconds From the loop's receiving the oldest frame of a turn to the start \
        of the turn.
        """
    case primaryEffectsRunning = "statecast_primary_effects_running Units of work of effects that run."
    case primaryEffectsFailed = "statecast_primary_effects_failed_total Units of work of effects that threw an error."
    case primaryStorageFull = """
        statecast_primary_storage_full 1 until 30 seconds after the last commit for which the journal had no room, \
        else 0.
        """
    case primaryRecoveredRecords = """
        statecast_primary_recovered_records Records that the recovery has replayed; the last value stays.
        """
    case primaryRecoveryRecords = "statecast_primary_recovery_records Records that the recovery has to replay in all."
    case primaryEpoch = "statecast_primary_epoch The incarnation of the store."
    case primaryRevision = "statecast_primary_revision The last published revision."
    case primarySessions = "statecast_primary_sessions Remembered sessions."
    case primaryStateBytes = "statecast_primary_state_bytes Bytes of the encoded state."
    case primaryHeldBytes = "statecast_primary_held_bytes Bytes of the frames that wait to be reduced."
    case primaryLeading = "statecast_primary_leading 1 if the node leads, 0 if it stands by."
    case primaryLeaseSeconds = """
        statecast_primary_lease_seconds Seconds for which the node may serve without another confirmed commit; 0 if \
        it stands by.
        """
    case primaryStandbyLagRecords = """
        statecast_primary_standby_lag_records Records of the leader that a standby has not copied; 0 if it leads.
        """
    case primaryTakeovers = "statecast_primary_takeovers_total How often the node became the leader."
    case journalCommits = "statecast_journal_commits_total Successful commits."
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
    case replicaGaps = "statecast_replica_gaps_total Missing updates, after which the replica joined again."
    case replicaSnapshots = "statecast_replica_snapshots_total Pulled snapshots."
    case replicaSnapshotBytes = "statecast_replica_snapshot_bytes_total Bytes of pulled snapshots."
    case replicaRewound = "statecast_replica_rewound_total How often the replica went back to an earlier revision."
    case replicaDiverged = """
        statecast_replica_diverged_total Updates that did not fit, or digests that differed; the replica fetched \
        the state again.
        """
    case replicaBacklogOverflows = """
        statecast_replica_backlog_overflows_total Pulls of a snapshot that too many updates interrupted.
        """
    case replicaMessagesUnreadable = "statecast_replica_messages_unreadable_total Unreadable messages."
    case replicaLive = "statecast_replica_live 1 while the replica shows the present state, else 0."
    case replicaLagSeconds = """
        statecast_replica_lag_seconds Seconds since the replica was last known to show the present state; 0 while \
        it does.
        """
    case replicaLagRevisions = """
        statecast_replica_lag_revisions Revisions from the shown state to the primary's newest one.
        """
    case replicaQueueSteps = "statecast_debug_replica_queue_steps Steps dequeued at once."
    case senderActionsApplied = "statecast_sender_actions_applied_total Actions with a receipt."
    case senderActionsRejected = """
        statecast_sender_actions_rejected_total Actions that ended without a receipt, by code.
        """
    case senderActionsPushed = "statecast_sender_actions_pushed_total Pushed actions, repetitions included."
    case senderFrames = "statecast_sender_frames_total Pushed frames."
    case senderWatermarksAsked = "statecast_debug_sender_watermarks_asked_total Requests for the watermark."
    case senderReconnects = "statecast_sender_reconnects_total Connections replaced for lack of answers or progress."
    case senderRewound = """
        statecast_sender_rewound_total How often the sender sent again from the number that the primary expects.
        """
    case senderLineagesChanged = "statecast_sender_lineages_changed_total How often the primary had another history."
    case senderOutcomesLost = """
        statecast_sender_outcomes_lost_total How often the primary lost outcomes that it had reported, with a \
        durability below full.
        """
    case senderRequestsRefused = "statecast_sender_requests_refused_total Refusals of the primary, by code."
    case senderReceiptDurationSeconds = """
        statecast_sender_receipt_duration_seconds From submitting an action to its receipt; one action at a time is \
        measured.
        """
    case senderOpen = "statecast_sender_open 1 while the sender reaches the primary, else 0."
    case senderOutboxActions = "statecast_sender_outbox_actions Submitted actions without an outcome."

    /// The name.
    package var label: String { String(rawValue.prefix { $0 != " " }) }
    /// What it tells.
    package var help: String { String(rawValue.dropFirst(label.count + 1)) }
    /// The name of a gauge in JSON: `statecast_primary_state_bytes` is `stateBytes`.
    package var member: String {
        let words = label.split(separator: "_").drop { ["statecast", "primary", "replica", "sender"].contains($0) }
        return words.reduce("") { $0 + ($0.isEmpty ? "\($1)" : $1.capitalized) }
    }
    /// Whether a gauge is 1 or 0 for yes or no.
    package var isFlag: Bool { [.primaryLeading, .primaryStorageFull, .replicaLive, .senderOpen].contains(self) }

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
