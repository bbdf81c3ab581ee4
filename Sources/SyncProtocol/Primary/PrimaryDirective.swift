package import StateCoding
package import StateCore

/// Instructions of a ``PrimaryMachine`` to its shell, to carry out in order.
package enum PrimaryDirective: Hashable, Sendable {
    /// Publish a frame on a topic of the store.
    case publish(Topic, Frame)
    /// Encode the published state at the head, off the loop, and report it with `snapshotEncoded`.
    case encodeSnapshot
    /// Read the updates between two revisions from the journal and report them with `pastRead`; `nil` if the patches
    /// exceed `bytesMax`, because a snapshot is smaller then.
    case readPast(after: Revision, through: Revision, bytesMax: Int)
    /// Write the record to the journal and report with `committed` when it may be published.
    case commit(Record)
    /// The record's frames for senders and replicas are published: release its effects to the primary's own process.
    /// The record is durable, or the store has no journal or a relaxed one.
    case durable(Record)
    case count(PrimaryEvent)
}

/// The events that a primary counts.
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

/// A batch: the actions of one turn of the loop, which are journaled, published and acknowledged together.
package struct Record: Hashable, Sendable {
    package let sequence: JournalSequence
    package let from: Revision
    package let to: Revision
    /// `nil` if no action was applied.
    package let update: Update?
    /// The digest and size of the state after the batch.
    package let summary: Summary
    package let outcomes: [SessionOutcomes]
    /// The sessions that were evicted since the last record.
    package let forgotten: [SessionID]

    /// The numbers of one session that the batch resolves.
    package struct SessionOutcomes: Hashable, Sendable {
        package let session: SessionID
        /// The journal sequence at which the session was opened.
        package let opened: JournalSequence
        package let first: ActionNumber
        package internal(set) var last: ActionNumber
    }
}

/// Actions that passed the checks of their session, to be decoded and reduced in order.
package struct AdmittedActions: Hashable, Sendable {
    package let session: SessionID
    package let first: ActionNumber
    package let actions: ArraySlice<[UInt8]>
}

/// The reducer's decision about an action.
package enum Verdict: Hashable, Sendable {
    case applied
    case rejected(Rejection)
}
