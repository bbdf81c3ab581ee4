/// What a shared journal says about the leadership of one store.
package struct LeaderRow: Hashable, Sendable {
    /// Raised by each claim; the epoch of its primary. 0: the store has not been claimed yet.
    package var term: Epoch
    /// Raised by each claim and renewal.
    package var beat: UInt64
    /// Whether the leader has given up the store.
    package var isResigned: Bool
    /// The node that the leader has chosen as its successor.
    package var heir: NodeID?
    /// The last claim.
    package var holder: NodeID?
    /// The last record that the leader knows to be durable.
    package var settled: JournalSequence
    /// The last record.
    package var head: JournalSequence
    /// Whether each commit waits for another server of the database.
    package var isSynchronous: Bool
    /// Whether the database is the one that was claimed: after a promotion it is not, until the next claim.
    package var isSameTimeline: Bool
    /// Whether the connection is open on which the leader has renewed its claim last.
    package var isConnected: Bool
    /// Where the leader takes actions: shown in logs and `status`.
    package var endpoint: String?

    /// Whether a server was promoted for which commits did not wait: an operator must accept the loss.
    package var mayLackRecords: Bool { !isSameTimeline && !isSynchronous }

    package init(term: Epoch, beat: UInt64, settled: JournalSequence, head: JournalSequence) {
        (self.term, self.beat, self.settled, self.head) = (term, beat, settled, head)
        (isResigned, isSynchronous, isSameTimeline, isConnected) = (false, true, true, true)
    }
}

/// A claim to all stores of a node.
package struct LeaderClaim: Hashable, Sendable {
    /// The identity of the claim.
    package let holder: NodeID
    /// The node that makes it, which no longer stands by then.
    package let node: NodeID
    /// What the node has seen: the claim fails if a term or a beat is another one by then.
    package let seen: [LeaderRow]
    /// Where the node takes actions: shown in logs and `status`.
    package let endpoint: String

    package init(holder: NodeID, node: NodeID, seen: [LeaderRow], endpoint: String) {
        (self.holder, self.node, self.seen, self.endpoint) = (holder, node, seen, endpoint)
    }
}
