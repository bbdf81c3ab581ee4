/// Where a sender's session stands, as far as only the sender knows it.
package struct SessionStanding: Hashable, Sendable {
    /// The session as one lineage of the primary knows it.
    package struct Link: Hashable, Sendable {
        package let lineage: Lineage
        package let opened: JournalSequence
        package let base: ActionNumber
        /// The last incarnation of the primary that settled something.
        package let settledBy: Epoch
    }

    package let session: SessionID
    /// `nil` as long as nothing can have left in it.
    package let link: Link?
    /// The oldest number without a receipt, or else the next to be given.
    package let first: ActionNumber

    /// A session in which nothing was sent yet.
    package init(fresh session: SessionID) { self.init(session: session, link: nil, first: ActionNumber(1)) }

    init(session: SessionID, link: Link?, first: ActionNumber) {
        self.session = session
        self.link = link
        self.first = first
    }

    /// Whether what leaves under the one is named as under the other. If not, the new one must be kept before anything
    /// leaves.
    package func names(likewise other: SessionStanding) -> Bool {
        session == other.session && link?.lineage == other.link?.lineage && link?.opened == other.link?.opened
            && link?.base == other.link?.base
    }
}

/// How far a sender's input has been taken.
package struct InputMark: Hashable, Sendable {
    /// A place in the input that rises, such as the number of a line.
    package let position: UInt64
    /// Of the input up to there, to tell it from another.
    package let digest: UInt32

    package init(position: UInt64, digest: UInt32 = 0) {
        self.position = position
        self.digest = digest
    }

    /// Nothing has been taken.
    package static let start = InputMark(position: 0)
}
