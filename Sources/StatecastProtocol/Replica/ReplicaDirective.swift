public import StatecastCore

/// Instructions of a ``ReplicaMachine`` to its shell, to perform in order.
package enum ReplicaDirective: Hashable, Sendable {
    case subscribe(Topic)
    case unsubscribe(Topic)
    /// Replace the connection by a new one, without the subscriptions of the old one.
    case reconnect
    /// Replace the document by this snapshot, and check the digest after decoding it.
    case install(snapshot: [UInt8], Position, digest: UInt64)
    /// Apply the patch to the document, which then is at the position.
    case apply(patch: [UInt8], Position)
    /// Check the digest of the document when it is at the position.
    case verify(Position, digest: UInt64)
    case status(ReplicaStatus)
    /// The primary's wall clock when it sent a message.
    case time(Timestamp)
    case count(ReplicaEvent)
}

/// The events that a replica counts.
package enum ReplicaEvent: Hashable, Sendable {
    case joining
    case reconnecting
    case gap
    case rewound
    case snapshot(bytes: Int)
    case diverged
    case backlogOverflow
    case refused(Rejection.Code)
}

/// The relation of a replica's state to the primary's.
public enum ReplicaStatus: Hashable, Sendable {
    /// Requesting the state or missed updates. The shown state may be old.
    case joining
    /// Following: the replica shows every change as it arrives.
    case live
    /// The primary missed several heartbeats.
    case stale
    /// The primary refuses the join, for example because it has no store of that name, and the replica retries rarely;
    /// or the replica cannot start.
    case refused(Rejection)
    /// The published data does not fit this replica's types. The replica retries when another primary answers.
    case incompatible(Rejection)
}
