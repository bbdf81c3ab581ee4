/// What can go wrong in a simulation.
package enum Fault: String, CaseIterable, Sendable {
    /// A subscriber's connection breaks.
    case feedBreaks
    /// A subscriber's connection breaks, and the primary notices it much later.
    case feedHalfOpen
    /// A sender's connection breaks; what is in flight still arrives, perhaps among what the next connection brings.
    case pushBreaks
    /// A sender's connection breaks, with all that is in flight, or all but a few messages.
    case pushLost
    /// A subscriber's connection stays open and delivers nothing any more, in one direction or both.
    case feedSilent
    /// A sender's connection for actions stays open and delivers nothing any more.
    case pushSilent
    /// What one node sends to the primary from now on is delayed until an end; what the primary sends arrives.
    case partitionUp
    /// What the primary sends to one node from now on is delayed until an end; what the node sends arrives.
    case partitionDown
    /// What one node and the primary send to each other from now on is delayed until an end.
    case partition
    /// A replica or a sender does nothing for a time, up to an hour.
    case subscriberPauses
    /// The primary does nothing for a time, up to an hour.
    case primaryPauses
    /// A replica's process ends between two events; another one begins without a state.
    case replicaEnds
    /// A sender's process ends between two events; another one resumes its session, if that is saved.
    case senderEnds
    /// A sender's process ends in the middle of a turn or a write.
    case senderEndsAtOutput
    /// A sender is closed by its user.
    case senderStops
    /// A write to a session file fails, and the sender ends.
    case sessionFileFails
    /// The primary's process ends between two turns.
    case primaryEnds
    /// The primary's process ends in the middle of a turn or a commit.
    case primaryEndsAtOutput
    /// The primary's next processes end soon after they start.
    case primaryCrashLoops
    /// The primary is stopped by its operator.
    case primaryStops
    /// The primary's host loses its power: what was not synced is gone.
    case powerCut
    /// The primary is started with another state type.
    case upgrade
    /// Commits are refused for lack of room, for up to 20 s.
    case diskFull
    /// Commits wait, for up to 20 s.
    case diskStuck
    /// A commit fails, and whether it took effect is unknown.
    case diskFails
    /// The newest snapshot cannot be read any more.
    case snapshotDamaged
    /// A node does not reach the database for a time; what it has sent is executed later.
    case databaseCut
    /// The reply of a database to a node is lost.
    case databaseReplyLost
    /// The database loses all sessions; what was written is committed, on this server alone.
    case databaseRestarts
    /// The database's other server takes the place of the first one, which some nodes may still reach.
    case databasePromoted
    /// An operator ends the wait of a commit for the other server.
    case databaseCancels
    /// Commits wait for the other server, for up to 20 s.
    case databaseStuck
    /// An operator lets no commit wait for the other server, for a time.
    case databaseStopsWaiting
    /// The database refuses commits for lack of room, for up to 20 s.
    case databaseFull
    /// A wall clock is set.
    case clockJumps
    /// A reducer ends the process.
    case reducerTraps
    /// A policy rejects actions.
    case actionsRejected
    /// Actions whose changes do not fit an update.
    case changesTooLarge
    /// Actions for which the reducer is not a function: if it reduces one again, it changes something else.
    case reducerRandom
    /// A user loses its right to some or all actions, until an end.
    case rightsWithdrawn
    /// A peer sends what no node of ours would send.
    case hostilePeer

    /// Whether it happens to the disk of a journal.
    var isOfDisk: Bool { [.diskFull, .diskStuck, .diskFails, .snapshotDamaged].contains(self) }
    /// Whether it happens to a database that several nodes share.
    var isOfDatabase: Bool { rawValue.hasPrefix("database") }
    /// Whether it is an action that a sender submits.
    var isOfActions: Bool { [.reducerTraps, .actionsRejected, .changesTooLarge, .reducerRandom].contains(self) }
}
