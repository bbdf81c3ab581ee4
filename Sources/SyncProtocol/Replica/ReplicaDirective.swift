public import StateCore

/// What the shell around a ``ReplicaMachine`` has to do, in this order.
package enum ReplicaDirective: Hashable, Sendable {
    case subscribe(Topic)
    case unsubscribe(Topic)
    /// Replace the document by this snapshot; check the digest behind decoding it.
    case install(snapshot: [UInt8], Position, digest: UInt64)
    /// Apply the patch to the document, which is then at the position.
    case apply(patch: [UInt8], Position)
    /// The document, when it has come to the position, should have this digest.
    case verify(Position, digest: UInt64)
    /// The connection's status changed.
    case status(ReplicaStatus)
    /// The primary's wall clock showed this when it sent.
    case time(Timestamp)
    /// Count an event.
    case count(ReplicaEvent)
}

/// What a replica counts.
package enum ReplicaEvent: Hashable, Sendable {
    case joining
    case gap
    case rewound
    case snapshot(bytes: Int)
    case diverged
    case backlogOverflow
    case refused(Rejection.Code)
}

/// How what a replica shows relates to the primary.
public enum ReplicaStatus: Hashable, Sendable {
    /// Asking the primary for the state, or for what was missed. What is shown may be old.
    case joining
    /// Following: every change is shown as it comes.
    case live
    /// Nothing was heard from the primary for several heartbeats.
    case stale
    /// The primary refuses the join, for example because it has no store of that name. It is asked again, seldom.
    case refused(Rejection)
    /// What the primary publishes does not fit this replica's types. It is asked again when another primary answers.
    case incompatible(Rejection)
}
