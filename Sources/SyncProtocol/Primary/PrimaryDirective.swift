package import StateCoding
package import StateCore

/// What the shell around a ``PrimaryMachine`` has to do, in this order.
package enum PrimaryDirective: Hashable, Sendable {
    /// Publish a frame on a topic of the store.
    case publish(Topic, Frame)
    /// Encode the durable state at the head, off the loop, and come back with `snapshotEncoded`.
    case encodeSnapshot
    /// Read the updates behind a revision from the journal, as far as another, and come back with `pastRead`. More bytes of
    /// patches than that are not wanted: a snapshot is less then.
    case readPast(after: Revision, through: Revision, bytesMax: Int)
    /// Make the record durable and come back with `committed`.
    case commit(Record)
    /// The record is durable, and what senders and replicas see of it is published: its own process may see it now.
    case durable(Record)
    /// Count an event.
    case count(PrimaryEvent)
}

/// What a primary counts.
package enum PrimaryEvent: Hashable, Sendable {
    case refused(Rejection.Code)
    case duplicates(Int)
    case outOfOrder
    case otherLineage
    case joined
    case joinAbandoned
    case chunkPublished
    case sessionOpened
}

/// A batch: what one turn of the loop brought, written, published and receipted as one.
package struct Record: Hashable, Sendable {
    package let sequence: JournalSequence
    package let from: Revision
    package let to: Revision
    /// `nil` if nothing was applied.
    package let update: Update?
    /// Digest and size of the state behind it.
    package let summary: Summary
    package let outcomes: [SessionOutcomes]
    /// Sessions that were forgotten since the last record.
    package let forgotten: [SessionID]

    /// The numbers of one session that the batch settles.
    package struct SessionOutcomes: Hashable, Sendable {
        package let session: SessionID
        /// The journal sequence at which the session was opened.
        package let opened: JournalSequence
        package let first: ActionNumber
        package internal(set) var last: ActionNumber
    }
}

/// Actions that passed the checks of their session: to be decoded and reduced, in order.
package struct AdmittedActions: Hashable, Sendable {
    package let session: SessionID
    package let first: ActionNumber
    package let actions: ArraySlice<[UInt8]>
}
