import StatecastCoding
package import StatecastCore

/// Instructions of a ``StoreEngine`` to its shell, to perform in order.
package enum StoreDirective: Sendable {
    /// Publish a frame on a topic of the store.
    case publish(Topic, Frame)
    /// Write a record to the journal, and report with ``StoreEngine/stored(through:into:)`` or
    /// ``StoreEngine/journalIsFull(_:at:into:)``.
    case commit(EncodedRecord)
    /// Encode the state of ``StoreEngine/published``, and report with
    /// ``StoreEngine/snapshotEncoded(_:revision:digest:at:into:)``. May be done on another thread.
    case encodeSnapshot
    /// Store the state as a snapshot in the journal, after the records that are passed to it. May be done on another
    /// thread.
    case storeSnapshot(SnapshotToStore)
    /// Show a published state to the observers in the primary's own process.
    case show(any AnyVersion)
    /// Add an observer. If it wants a replay, the state that was shown last contains the actions that were dispatched
    /// before it registered.
    case addObserver(ObserverID, Replay)
    case removeObserver(ObserverID)
    /// Report the outcome of an awaited action, or of one that an effect sent.
    case answer(LocalID, LocalOutcome)
    case start(Effect, IdempotencyKey)
    /// Enqueue the actions that the middlewares of a published batch dispatched.
    case dispatch([any Action])
    /// An action that may have crashed the process has its final outcome.
    case clearSuspect(SessionID, ActionNumber)
    /// The engine has rolled back: the journal accepts records again.
    case resumeJournal
    /// The store ends, and these requests were not processed.
    case returnRequests([LocalRequest])
    case count(StoreEvent)
    case log(StoreNotice)
}

/// The events that a store counts.
package enum StoreEvent: Hashable, Sendable {
    case refused(Rejection.Code)
    case duplicates(Int)
    case outOfOrder
    case otherLineage
    case joined
    case joinAbandoned
    case chunkPublished
    case sessionOpened
    /// A batch was published.
    case published(OutcomeCounts, patchBytes: Int?)
    /// A turn has reduced frames of senders. `waited`: the time since the oldest one was received.
    case reduced(waited: Duration)
}

/// An event for the operator's log.
package enum StoreNotice: Hashable, Sendable {
    /// - Parameters:
    ///   - user: who sent the action, if the transport authenticated the sender.
    ///   - isDispatched: whether the primary's own process dispatched it or an effect sent it: no caller learns of the
    ///     rejection.
    case rejected(Rejection, user: String?, isDispatched: Bool)
    /// Another user than its owner tried to use a session. Reported once for each pair of users.
    case otherUser(SessionID, String, owner: String)
    case warning(RuntimeWarning)
    /// The journal has no room; actions are refused.
    case full(String)
    case hasRoomAgain
    /// The state cannot be encoded for joining replicas.
    case unencodable(String)
}

/// A record for the journal.
package struct EncodedRecord: Hashable, Sendable {
    package let sequence: JournalSequence
    package let from: Revision
    package let to: Revision
    /// See ``BatchRecord``.
    package let body: [UInt8]
}

/// A snapshot for the journal.
package struct SnapshotToStore: Sendable {
    package let version: any AnyVersion
    package let context: SnapshotContext
    /// Whether the store ends: the snapshot lets the next start read no records.
    package let isLast: Bool
}
