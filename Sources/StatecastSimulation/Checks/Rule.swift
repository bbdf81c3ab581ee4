package import StatecastProtocol

/// What must hold in every run.
package enum Rule: String, Sendable {
    /// What a replica shows is a state that the primary published at that position.
    case shownWasPublished
    /// Positions of a replica never go back within an incarnation of the primary, nor to an earlier incarnation.
    case positionsRise
    /// A node that shares its journal publishes nothing once its lease has passed since its last confirmed commit.
    case silentAfterLease
    /// What is published, and what receipts and watermarks name, is durable as the journal promises.
    case publishedIsDurable
    /// An applied action is in the history at its revision.
    case receiptsHold
    /// No action is applied twice, and those of one sender keep their order.
    case appliedOnce
    /// A process reports one outcome of an action, and none that was reported as unknown before.
    case oneOutcome
    /// A sender reports no transient refusal as a rejection, and no outcome as unknown without a reason.
    case outcomesAreFinal
    /// A sender with a session file saves an outcome that it decides before it reports it.
    case decisionsAreSaved
    /// A rejected action leaves no trace in the state.
    case rejectedLeaveNoTrace
    /// Nothing is applied without the right to it, nor rejected for want of a right that was there, and a session has
    /// one user.
    case rightsHold
    /// The state after a start is the one that the journal's records lead to.
    case recoveredWasPublished
    /// Once faults stop, all replicas show the primary's state, and every action has an outcome, which a process of its
    /// sender reported.
    case converges
    /// An effect starts once in an incarnation, after its action was published.
    case effectsStartOnce
    /// Replicas and senders receive what can be decoded.
    case messagesAreReadable
    /// A session file is read as it was written.
    case sessionFilesAreReadable
    /// A node subscribes to the feed before it joins, and ends each subscription once.
    case subscriptionsMatch
    /// Queues, buffers and tables stay within their limits.
    case limitsHold
    /// Only an action that ends the primary's process is rejected as one that does.
    case onlyTrapsAreRejectedAsSuch
    /// A node ends only because of an injected fault.
    case nodesStayUp
}

/// A broken rule.
package struct Violation: Sendable, CustomStringConvertible {
    package let rule: Rule
    package let message: String
    /// The virtual time since the start.
    package let time: Instant
    /// The number of the event in which it was noticed.
    package let event: Int

    package var description: String { "\(rule) at \(time.offset), event \(event): \(message)" }
}
