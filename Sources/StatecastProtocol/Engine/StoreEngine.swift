import DequeModule
package import StatecastCoding
package import StatecastCore

/// The pipeline of one store on the primary, as a value: which actions are new, their reduction in batches, the records
/// for the journal, and what is published.
///
/// Events come in as calls; directives, to be performed in order, go out into an array. The engine has no clock and
/// does no I/O. Nothing becomes visible before its batch is durable.
///
/// A turn makes a batch, within a budget, or several if its actions cannot be published together; no batch is open
/// between two events. The next turn may make another while the journal stores the one before.
package struct StoreEngine<State: Codable & Equatable & Sendable>: Sendable {
    package typealias Directives = [StoreDirective]

    private let context: BatchContext<State>
    private let settings: StoreSettings
    private let incarnation: Incarnation
    private var suspects: Suspects

    private var feed: Feed
    private var admission: Admission
    private var locals = LocalQueue()
    private var commits = CommitQueue()
    private var snapshots: SnapshotSchedule
    /// The state after the last batch: the next patch starts from it.
    private var latest: Version<State>
    /// The state at the head, which replicas have.
    package private(set) var published: Version<State>
    /// Whether the journal had no room, and has stored nothing since.
    package private(set) var isDiskFull = false
    /// Until when actions are refused because the journal has no room; `nil` from the first turn after that time on.
    private var fullUntil: Instant?

    /// Continues a store's history.
    package init(
        _ program: StoreProgram<State>,
        _ settings: StoreSettings,
        history: History,
        state: State,
        snapshots: SnapshotSchedule = SnapshotSchedule(),
        suspects: [Suspect] = [],
        now: Instant
    ) {
        context = BatchContext(program, settings)
        self.settings = settings
        self.snapshots = snapshots
        self.suspects = Suspects(suspects)
        incarnation = history.incarnation
        feed = Feed(history, settings, actions: program.table.entries, now: now)
        admission = Admission(history, settings)
        latest = Version(
            state: state,
            summary: history.summary,
            revision: history.head,
            sequence: history.sequence
        )
        published = latest
    }

    // MARK: State

    /// The state after all reduced actions, published or not.
    package var state: State { latest.state }

    /// The last published position.
    package var position: Position { incarnation.position(at: published.revision) }

    /// The sessions that the store remembers.
    package var sessionCount: Int { admission.sessions.count }

    /// The number of a session's next action; `nil` if there is no such session.
    package func nextNumber(of session: SessionID) -> ActionNumber? { admission.sessions[session]?.expected }

    /// The joins that wait.
    package var joinsWaiting: Int { feed.joinsWaiting }

    /// The last record, stored or not.
    package var lastSequence: JournalSequence { latest.sequence }

    /// The bytes of the frames that wait.
    package var heldBytes: Int { admission.bytesWaiting }

    /// The time of the next `tick` and turn, unless there is work before.
    package var nextDeadline: Instant {
        min(feed.nextDeadline, fullUntil ?? feed.nextDeadline, admission.nextResumption ?? feed.nextDeadline)
    }

    /// Whether another turn has work now.
    package func hasWork(at now: Instant) -> Bool {
        feed.hasRequests || admission.hasRequests || hasLocalWork(at: now)
            || (canMakeBatch(at: now) && admission.hasFrames(at: now))
    }

    /// Whether another turn can process requests of the primary's own process.
    package func hasLocalWork(at now: Instant) -> Bool {
        locals.canDequeue(canReduce: canReduceLocally(at: now)) { commits.cancels($0) }
    }

    /// Whether the engine takes one more frame of a sender.
    package var wantsFrames: Bool { commits.hasRoom(limits) && admission.hasRoom }

    /// Whether the engine takes no more frames and can make a batch of those that wait.
    package func isBehind(at now: Instant) -> Bool {
        !wantsFrames && canMakeBatch(at: now) && admission.hasFrames(at: now)
    }

    /// A queue or table that is beyond its limit, which only a fault in the engine can cause.
    package var exceededLimit: String? {
        let maxFrameBytes = Inbox.bytes(ofMessage: limits.maxFrameBytes)
        let counts = [
            ("joins", feed.joinsWaiting, limits.maxWaitingJoins),
            ("sessions", admission.sessions.count, admission.maxSessions),
            ("actions of a session", admission.sessions.maxUndurableCount, limits.maxWindowActions),
            ("updates", feed.updatesKept, limits.maxRingUpdates),
            ("snapshots", feed.snapshotsKept, limits.maxSnapshots),
            ("bytes of frames", admission.bytesWaiting, max(limits.maxHeldBytes, maxFrameBytes)),
        ]
        return counts.first { $1 > $2 }.map { "\($1) \($0), at most \($2) are allowed" }
    }

    private var limits: Limits { settings.limits }
    private var hasJournal: Bool { settings.hasJournal }
    private func isFull(at now: Instant) -> Bool { fullUntil.map { now < $0 } ?? false }
    private func canMakeBatch(at now: Instant) -> Bool { commits.hasRoom(limits) && !isFull(at: now) }

    private func canReduceLocally(at now: Instant) -> Bool { canMakeBatch(at: now) && admission.ownRoom > 0 }

    // MARK: Events

    /// The store is served from now on.
    package mutating func begin(initialEffect: Effect, into directives: inout Directives) {
        directives.append(.show(published))
        // With the epoch: the effect runs again at each start, with another key.
        let key = incarnation.key(of: published.revision, start: incarnation.epoch.rawValue)
        directives.append(.start(initialEffect, key))
        storeSnapshotIfDue(into: &directives)
    }

    /// A subscription, which is a request for the topic's data.
    ///
    /// - Parameter sender: of a subscription to receipts; `nil` without keys.
    package mutating func subscribed(to topic: Topic, from sender: FrameSender?, into directives: inout Directives) {
        if case .receipts(let session) = topic {
            admission.subscribed(to: session, from: sender, into: &directives)
        } else {
            feed.subscribed(to: topic, sessions: admission.sessions.count, into: &directives)
        }
    }

    /// The last subscriber of a topic is gone.
    package mutating func unsubscribed(from topic: Topic, into directives: inout Directives) {
        if case .receipts(let session) = topic {
            admission.unsubscribed(from: session)
        } else {
            feed.unsubscribed(from: topic, into: &directives)
        }
    }

    /// A frame of actions, which waits for a turn.
    ///
    /// - Parameter sender: `nil` without keys; every action is then permitted.
    package mutating func received(
        _ frame: ActionsFrame,
        from sender: FrameSender?,
        at now: Instant,
        into directives: inout Directives
    ) {
        admission.received(frame, from: sender, at: now, isFull: isFull(at: now), into: &directives)
    }

    /// A request of the primary's own process, which waits for a turn.
    package mutating func requested(_ request: LocalRequest) { locals.append(request) }

    /// The work of an effect was cancelled: its actions that wait will not be reduced.
    package mutating func cancelled(work: UInt64) {
        locals.cancel(work: work)
        commits.cancel(work: work)
    }

    /// Takes a turn: makes a batch of the frames and requests that wait, and answers joiners.
    ///
    /// - Parameter time: the wall clock.
    package mutating func turn(
        at now: Instant,
        time: Timestamp,
        _ budget: TurnBudget = TurnBudget(),
        marking: some ReductionMarking,
        into directives: inout Directives
    ) {
        let batch = Batch(after: latest, context, suspects, at: time)
        var observers: [(ObserverID, Replay)] = []
        if !isFull(at: now) { fullUntil = nil }
        if canMakeBatch(at: now) {
            var left = budget
            var oldest: Instant?
            while let next = admission.dequeue(
                within: &left,
                at: now,
                durable: published.sequence,
                into: &directives
            ) {
                let outcomes = batch.reduce(next, marking: marking)
                admission.record(outcomes, of: next.frame.header.session, opened: next.opened)
                oldest = min(oldest ?? next.arrived, next.arrived)
            }
            if let oldest { directives.append(.count(.reduced(waited: oldest.duration(to: now)))) }
        }
        takeRequests(for: batch, budget, at: now, waiting: &observers, into: &directives)
        close(batch, marking: marking, into: &directives)
        for (observer, replay) in observers {
            let isAdded = commits.addWaiting(observer, replay)
            precondition(isAdded, "a batch with actions is not in the queue")
        }
        admission.evictExcess()
        // After all parts of the batch: an effect that a part cancels must not send an action in a later one.
        if !hasJournal { publish(through: latest.sequence, into: &directives) }
        admission.endTurn(at: now, durable: published.sequence, into: &directives)
        feed.serve(at: now, time: time, into: &directives)
    }

    /// The time of ``nextDeadline`` has come. `time` is the wall clock.
    package mutating func tick(at now: Instant, time: Timestamp, into directives: inout Directives) {
        if let heartbeat = feed.tick(at: now, time: time) { directives.append(.publish(.feed, .heartbeat(heartbeat))) }
    }

    /// The published state is encoded for joiners.
    package mutating func snapshotEncoded(
        _ bytes: Result<[UInt8], CodingFailure>,
        revision: Revision,
        digest: UInt64,
        at now: Instant,
        into directives: inout Directives
    ) {
        switch bytes {
        case .success(let bytes): feed.snapshotEncoded(bytes, revision: revision, digest: digest, at: now)
        case .failure(let failure):
            directives.append(.log(.unencodable("\(failure)")))
            let reason = Rejection(.unencodable, "the state cannot be encoded: \(failure)")
            feed.snapshotFailed(reason, into: &directives)
        }
    }

    /// A snapshot is stored in the journal, or could not be.
    package mutating func snapshotStored(isStored: Bool) { snapshots.finish(isStored: isStored) }

    /// The store ends: no more frames are taken, and those that wait are dropped.
    package mutating func finish() { admission.finish() }

    /// The store is not served any more: resolves what is left.
    package mutating func end(into directives: inout Directives) {
        var requests: [LocalRequest] = []
        for batch in commits.rollBack() {
            for followUp in batch.results.followUps {
                guard let local = followUp.local else { continue }
                let reason = "the primary was stopped; action \(followUp.number) may or may not have been made durable"
                answer(local, .rejected(Rejection(.outcomeUnknown, reason)), into: &directives)
            }
            requests += batch.waitingObservers.map { .observe($0.observer, $0.replay) }
        }
        directives.append(.returnRequests(requests + locals.removeAll()))
        if hasJournal, published.sequence > snapshots.covered { storeSnapshot(isLast: true, into: &directives) }
    }
}

// MARK: A batch

extension StoreEngine {
    /// Processes the requests of the primary's own process in order, up to the first one that has to wait.
    private mutating func takeRequests(
        for batch: Batch<State>,
        _ budget: TurnBudget,
        at now: Instant,
        waiting observers: inout [(ObserverID, Replay)],
        into directives: inout Directives
    ) {
        var left = budget.actions
        while left > 0, batch.ownBytes < budget.bytes {
            let next = locals.dequeue(canReduce: canReduceLocally(at: now)) {
                batch.results.cancelled.contains($0) || commits.cancels($0)
            }
            guard let (request, isCancelled) = next else { return }
            switch request {
            case .action(let action) where isCancelled: answer(action, .rejected(.effectCancelled), into: &directives)
            case .action(let action):
                admission.record(batch.reduce(action, admission.ownNumber), of: .primary, opened: JournalSequence(0))
                left -= 1
            // A replayed state contains the actions that were dispatched before, so a replay waits until these are
            // published. An observer without a replay is added at once: later actions may still join the batch, and
            // the observer must observe them.
            case .observe(let observer, let replay):
                if replay != .none, !batch.isEmpty {
                    observers.append((observer, replay))
                } else if replay == .none || !commits.addWaiting(observer, replay) {
                    directives.append(.addObserver(observer, replay))
                }
            case .ignore(let observer): directives.append(.removeObserver(observer))
            }
        }
    }

    /// Passes a batch to the journal. One that cannot be encoded, is too large for a frame, or makes the state larger
    /// than a snapshot may be, is reduced again in halves, until its causes are alone: these actions are rejected.
    ///
    /// The results of a pass that fails are dropped, including effects, and the decisions and dispatched actions of
    /// middlewares, since they depend on a state that is rolled back. So a middleware may see an action more than once.
    private mutating func close(
        _ batch: Batch<State>,
        marking: some ReductionMarking,
        into directives: inout Directives
    ) {
        guard !batch.isEmpty else { return }
        do throws(Rejection) {
            return commit(batch, try StateChange(from: latest, to: batch, limits), into: &directives)
        } catch {
            admission.rollBack(batch.results.outcomes)
            batch.endMiddlewares(showing: published.state)
            let parts = batch.parts
            for part in parts {
                let reason = parts.count == 1 ? error : nil
                let again = batch.reducedAgain(part, after: latest, rejecting: reason, marking: marking) {
                    commits.cancels($0)
                }
                for resolved in again.results.outcomes {
                    admission.record(resolved.outcomes, of: resolved.session, opened: resolved.opened)
                }
                close(again, marking: marking, into: &directives)
            }
        }
    }

    private mutating func commit(_ batch: Batch<State>, _ change: StateChange, into directives: inout Directives) {
        let (from, to, patch) = (latest.revision, batch.revision, change.patch)
        let sequence = latest.sequence.next
        latest = Version(state: batch.state, summary: change.summary, revision: to, sequence: sequence)
        directives += batch.notices.map { .log($0) }
        let forgotten = admission.drainForgotten()
        let head = RecordHead(epoch: incarnation.epoch, from: from, to: to, summary: change.summary)
        let body = batch.recordBody(head, forgotten: forgotten, patch: patch)
        let closed = ClosedBatch(
            update: to > from ? incarnation.update(from: from, to: to, patch: patch) : nil,
            version: latest,
            results: batch.results,
            dispatched: batch.endMiddlewares(showing: published.state),
            forgotten: forgotten,
            bytes: body.count
        )
        commits.append(closed)
        guard hasJournal else { return }
        snapshots.count(body.count)
        directives.append(.commit(EncodedRecord(sequence: sequence, from: from, to: to, body: body)))
    }
}

// MARK: The journal

extension StoreEngine {
    /// The journal has stored the records through `sequence`.
    package mutating func stored(through sequence: JournalSequence, into directives: inout Directives) {
        // A journal may report the records again that it had stored before it was full.
        guard sequence > published.sequence else { return }
        publish(through: sequence, into: &directives)
        if isDiskFull { directives.append(.log(.hasRoomAgain)) }
        (isDiskFull, fullUntil) = (false, nil)
    }

    /// The journal has no room.
    ///
    /// Rolls back to the last durable state. Senders send their actions again; local actions wait, or are rejected if a
    /// caller awaits them.
    package mutating func journalIsFull(_ message: String, at now: Instant, into directives: inout Directives) {
        if !isDiskFull { directives.append(.log(.full(message))) }
        isDiskFull = true
        fullUntil = now.advanced(by: limits.minRetryDelay)
        let reason = Rejection(.storageFull, message)
        let undone = commits.rollBack()
        latest = published
        for (observer, replay) in undone.flatMap(\.waitingObservers) {
            directives.append(.addObserver(observer, replay))
        }
        var waiting: [LocalAction] = []
        for action in undone.flatMap(\.results.followUps).compactMap(\.local) {
            if action.origin == .awaited {
                answer(action, .rejected(reason), into: &directives)
            } else {
                waiting.append(action)
            }
        }
        locals.prepend(waiting)
        for work in undone.flatMap(\.cancelledWork) { locals.cancel(work: work) }
        directives.append(.resumeJournal)
        // The next record has to list these evictions instead.
        let (outcomes, forgotten) = (undone.flatMap(\.results.outcomes), undone.flatMap(\.forgotten))
        admission.rollBackAll(outcomes, forgetting: forgotten, into: &directives)
    }

    /// Publishes the batches up to a record: their updates and receipts, then their effects on the primary's own
    /// process.
    private mutating func publish(through sequence: JournalSequence, into directives: inout Directives) {
        while let batch = commits.dequeue(through: sequence) {
            published = .typed(batch.version)
            if let update = batch.update {
                feed.append(update, summary: batch.version.summary)
                directives.append(.publish(.feed, .update(update)))
            }
            for resolved in batch.results.outcomes { admission.published(resolved, into: &directives) }
            batch.appendLocalEffects(in: incarnation, into: &directives)
            for suspect in suspects.removeResolved(by: batch.results.outcomes) {
                directives.append(.clearSuspect(suspect.session, suspect.number))
            }
        }
        storeSnapshotIfDue(into: &directives)
    }

    private func answer(_ action: LocalAction, _ outcome: LocalOutcome, into directives: inout Directives) {
        if let id = action.id { directives.append(.answer(id, outcome)) }
    }

    /// Stores the published state as a snapshot if one is due.
    private mutating func storeSnapshotIfDue(into directives: inout Directives) {
        let (bytes, last) = (published.summary.bytes, published.sequence)
        guard hasJournal, snapshots.start(settings.snapshots, stateBytes: bytes, at: last) else { return }
        storeSnapshot(isLast: false, into: &directives)
    }

    private func storeSnapshot(isLast: Bool, into directives: inout Directives) {
        let context = SnapshotContext(
            epoch: incarnation.epoch,
            stateVersion: settings.stateVersion,
            summary: published.summary,
            sessions: admission.sessions,
            migrations: settings.migrations
        )
        directives.append(.storeSnapshot(SnapshotToStore(version: published, context: context, isLast: isLast)))
    }
}
