/// The identity of a node that shares its stores with others, or of one of its claims: 128 random bits.
package struct NodeID: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64

    package init(using generator: inout some RandomNumberGenerator) {
        (high, low) = (generator.next(), generator.next())
    }

    /// Reads 16 bytes, the most significant one first; `nil` for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        (high, low) = (number(bytes.prefix(8)), number(bytes.dropFirst(8)))
    }

    /// 16 bytes, the most significant one first.
    package var bytes: [UInt8] {
        [high, low].flatMap { number in withUnsafeBytes(of: number.bigEndian, Array.init) }
    }

    /// 32 hexadecimal digits.
    package var description: String {
        var digits: [UInt8] = []
        Hexadecimal.append(high, to: &digits)
        Hexadecimal.append(low, to: &digits)
        return String(decoding: digits, as: UTF8.self)
    }
}

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
    /// Where the leader takes actions, for people.
    package var endpoint: String?

    package init(term: Epoch, beat: UInt64, settled: JournalSequence, head: JournalSequence) {
        (self.term, self.beat, self.settled, self.head) = (term, beat, settled, head)
        (isResigned, isSynchronous, isSameTimeline, isConnected) = (false, true, true, true)
    }
}

/// A claim to all stores of a node.
package struct LeaderClaim: Hashable, Sendable {
    /// The identity of the claim.
    package let holder: NodeID
    /// The node that makes it, which stands by no more then.
    package let node: NodeID
    /// What the node has seen: the claim fails if a term or a beat is another one by then.
    package let seen: [LeaderRow]
    /// The address of the node, for people.
    package let endpoint: String

    package init(holder: NodeID, node: NodeID, seen: [LeaderRow], endpoint: String) {
        (self.holder, self.node, self.seen, self.endpoint) = (holder, node, seen, endpoint)
    }
}
