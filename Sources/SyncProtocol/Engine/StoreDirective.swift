import StateCoding
package import StateCore

/// Instructions of a ``StoreEngine`` to its shell, to perform in order.
package enum StoreDirective<State: Sendable>: Sendable {
    /// Publish a frame on a topic of the store.
    case publish(Topic, Frame)
    /// Write a record to the journal, and report with ``StoreEngine/stored(through:into:)`` (before it, at relaxed
    /// durability, with ``StoreEngine/accepted(through:into:)``) or ``StoreEngine/journalIsFull(_:at:into:)``.
    case commit(CommittedBatch)
    /// Encode the state and report with ``StoreEngine/snapshotEncoded(_:revision:digest:at:into:)``. May be done on
    /// another thread.
    case encodeSnapshot(State, Revision, digest: UInt64)
    /// Store the state as a snapshot in the journal, after the records that are passed to it. May be done on another
    /// thread.
    case storeSnapshot(StoredSnapshot<State>)
    /// Read the updates between two revisions from the journal and report them with
    /// ``StoreEngine/pastRead(_:after:)``; `nil` if the patches exceed `bytesMax`, because a snapshot is smaller then.
    case readPast(after: Revision, through: Revision, bytesMax: Int)
    /// Show a published state to the observers in the primary's own process.
    case show(State, Revision)
    /// Add an observer. If it wants a replay, the state that was shown last contains the actions that were dispatched
    /// before it registered.
    case admit(ObserverID, Replay)
    case remove(ObserverID)
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

/// The directives that contain no state, for the parts of the engine that do not know its type.
enum PlainDirective: Hashable, Sendable {
    case publish(Topic, Frame)
    /// Encode the published state.
    case encodeSnapshot
    case readPast(after: Revision, through: Revision, bytesMax: Int)
    case count(StoreEvent)
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
    /// The joins that wait at the end of a turn.
    case joinsWaiting(Int)
}

/// What a store reports to its operator.
package enum StoreNotice: Hashable, Sendable {
    case rejected(Rejection)
    case warning(RuntimeWarning)
    /// The journal has no room; actions are refused.
    case full(String)
    case hasRoomAgain
    /// The state cannot be encoded for joining replicas.
    case unencodable(String)
}

/// The number of actions by outcome.
package struct OutcomeCounts: Hashable, Sendable {
    package private(set) var applied = 0
    package private(set) var rejected: [Rejection.Code: Int] = [:]

    mutating func countApplied(_ count: Int) { applied += count }
    mutating func countRejected(_ code: Rejection.Code) { rejected[code, default: 0] += 1 }

    /// The number of all actions.
    package var total: Int { applied + rejected.values.reduce(0, +) }
}

/// A record for the journal.
package struct CommittedBatch: Hashable, Sendable {
    package let sequence: JournalSequence
    package let from: Revision
    package let to: Revision
    /// See ``BatchRecord``.
    package let body: [UInt8]
}

/// A snapshot for the journal.
package struct StoredSnapshot<State: Sendable>: Sendable {
    package let state: State
    package let revision: Revision
    /// The last record that it contains.
    package let sequence: JournalSequence
    package let context: SnapshotContext
    /// Whether the store ends: the snapshot lets the next start read no records.
    package let isLast: Bool
}

/// Identifies an action of the primary's own process whose outcome is to be reported.
package struct LocalID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies an observer in the primary's own process.
package struct ObserverID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The outcome of an action of the primary's own process.
package enum LocalOutcome: Hashable, Sendable {
    case applied(ActionNumber, Position)
    case rejected(Rejection)
}

/// A request of the primary's own process.
package enum LocalRequest: Sendable {
    case action(LocalAction)
    case observe(ObserverID, Replay)
    case ignore(ObserverID)
}

/// An action of the primary's own process.
package struct LocalAction: Sendable {
    package let action: any Action
    /// Under which its outcome is reported; `nil` if nothing awaits it.
    package let id: LocalID?
    package let origin: Origin

    package enum Origin: Hashable, Sendable {
        case dispatched
        case awaited
        /// Sent by the work of an effect: its number, and the ID under which it can be cancelled.
        case effect(run: UInt64, AnyID?)
    }

    package init(_ action: any Action, id: LocalID? = nil, origin: Origin) {
        self.action = action
        self.id = id
        self.origin = origin
    }
}
