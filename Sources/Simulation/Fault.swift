/// What can go wrong in a simulation.
package enum Fault: String, CaseIterable, Sendable {
    /// A subscriber's connection breaks.
    case feedBreaks
    /// A subscriber's connection breaks, and the primary notices it much later.
    case feedHalfOpen
    /// A sender's connection breaks; what is in flight still arrives, perhaps among what the next connection brings.
    case pushBreaks
    /// A sender's connection breaks, with all that is in flight.
    case pushLost
    /// Nothing reaches the primary from one node for a time.
    case partitionUp
    /// Nothing reaches one node from the primary for a time.
    case partitionDown
    /// A subscriber does nothing for a time, up to an hour.
    case subscriberPauses
    case primaryPauses
    case replicaEnds
    case senderEnds
    /// The primary's process ends between two turns.
    case primaryEnds
    /// The primary's process ends in the middle of a turn or a commit.
    case primaryEndsAtOutput
    /// The primary's next processes end soon after they start.
    case primaryCrashLoops
    case primaryStops
    /// The primary's host loses its power: what was not synced is gone.
    case powerCut
    /// The primary is started with another state type.
    case upgrade
    case diskFull
    /// Commits take seconds.
    case diskStuck
    /// A commit fails, and whether it took effect is unknown.
    case diskFails
    case snapshotDamaged
    /// A wall clock is set.
    case clockJumps
    /// A reducer ends the process.
    case reducerTraps
    /// A policy rejects actions.
    case actionsRefused
    /// Changes that do not fit an update.
    case changesTooLarge
    /// A reducer that is not a function of the state and the action.
    case reducerRandom
    /// A peer sends what no node of ours would send.
    case hostilePeer
    /// The primary ends, and another process answers at its endpoint until it is back.
    case hostilePrimary

    /// Whether it happens to the disk of a journal.
    var isOfDisk: Bool { [.diskFull, .diskStuck, .diskFails, .snapshotDamaged].contains(self) }
    /// Whether it is an action that a sender submits.
    var isOfActions: Bool { [.reducerTraps, .actionsRefused, .changesTooLarge, .reducerRandom].contains(self) }
}
