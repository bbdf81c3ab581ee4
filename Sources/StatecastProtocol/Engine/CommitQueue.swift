import DequeModule
import StatecastCore

/// A closed batch, which waits until it may be published.
struct ClosedBatch: Sendable {
    /// `nil` if no action was applied.
    let update: Update?
    /// The state after the batch.
    let version: any AnyVersion
    let results: BatchResults
    /// The actions that middlewares dispatched.
    let dispatched: [any Action]
    /// The sessions that were evicted before it was closed.
    let forgotten: [SessionID]
    /// The size of the record.
    let bytes: Int
    /// Observers that registered while the batch was made or in flight. Their replay must contain the batch.
    fileprivate(set) var waitingObservers: [(observer: ObserverID, replay: Replay)] = []
    /// The effects whose work was cancelled while this was the last batch.
    fileprivate(set) var cancelledWork: [UInt64] = []

    /// Appends the directives for the primary's own process, when the batch is published.
    func appendLocalEffects(in incarnation: Incarnation, into directives: inout [StoreDirective]) {
        directives.append(.count(.published(results.counts, patchBytes: update?.patch.count)))
        // Not before: the action of a batch that is rolled back dispatches again when it is sent again.
        if !dispatched.isEmpty { directives.append(.dispatch(dispatched)) }
        if update != nil { directives.append(.show(version)) }
        for (observer, replay) in waitingObservers { directives.append(.addObserver(observer, replay)) }
        for followUp in results.followUps {
            let outcome: LocalOutcome
            switch followUp.outcome {
            case .applied(let revision):
                if !followUp.effect.isNone {
                    directives.append(.start(followUp.effect, incarnation.key(of: revision)))
                }
                outcome = .applied(followUp.number, incarnation.position(at: revision))
            case .rejected(let rejection): outcome = .rejected(rejection)
            }
            if let id = followUp.local?.id { directives.append(.answer(id, outcome)) }
        }
    }
}

/// The batches that are passed to the journal and not published yet.
struct CommitQueue: Sendable {
    private var batches: Deque<ClosedBatch> = []
    private var bytes = 0

    func hasRoom(_ limits: Limits) -> Bool {
        batches.count < limits.maxUncommittedRecords && bytes < limits.maxUncommittedBytes
    }

    /// Whether a batch in flight cancels the effects with an ID.
    func cancels(_ id: AnyID) -> Bool { batches.contains { $0.results.cancelled.contains(id) } }

    /// Appends the batch with the next sequence.
    mutating func append(_ batch: ClosedBatch) {
        batches.append(batch)
        bytes += batch.bytes
    }

    /// Lets an observer wait for the last batch.
    ///
    /// - Returns: `false` if there is none.
    mutating func addWaiting(_ observer: ObserverID, _ replay: Replay) -> Bool {
        guard !batches.isEmpty else { return false }
        batches[batches.endIndex - 1].waitingObservers.append((observer, replay))
        return true
    }

    /// Removes the next batch up to `sequence`, to publish it.
    mutating func dequeue(through sequence: JournalSequence) -> ClosedBatch? {
        // Not `first`, which copies the batch.
        guard !batches.isEmpty, batches[batches.startIndex].version.sequence <= sequence else { return nil }
        bytes -= batches[batches.startIndex].bytes
        return batches.removeFirst()
    }

    /// The work of an effect was cancelled: its actions in flight are not reduced again if they are rolled back.
    mutating func cancel(work: UInt64) {
        if !batches.isEmpty { batches[batches.endIndex - 1].cancelledWork.append(work) }
    }

    /// Drops all batches that are not published: none is stored.
    mutating func rollBack() -> Deque<ClosedBatch> {
        defer { self = CommitQueue() }
        return batches
    }
}
