package import StateCoding
package import StateCore

/// The pipeline of one store on the primary, as a value: which actions are new, their reduction in batches, the records
/// for the journal, and what is published.
///
/// Events come in as calls; directives, to be performed in order, go out into an array. The engine has no clock and
/// does no I/O. Nothing becomes visible before its batch is durable, or accepted by a relaxed journal.
///
/// A turn makes at most one batch, within a budget; no batch is open between two events. The next turn may make another
/// while the journal stores the one before.
package struct StoreEngine<State: Codable & Equatable & Sendable>: Sendable {
    package typealias Directives = [StoreDirective<State>]

    private let program: StoreProgram<State>
    private let settings: StoreSettings
    private let epoch: Epoch
    private let lineage: Lineage
    private var suspects: [Suspect]

    private var feed: Feed
    private var admission: Admission
    private var inbox = Inbox()
    private var locals = LocalQueue()
    private var commits: CommitQueue<State>
    private var snapshots: SnapshotSchedule
    /// The state after the last batch: the next patch starts from it.
    private var latest: Version<State>
    /// The state at the head, which replicas have.
    private var published: Version<State>
    /// Whether the journal had no room, and has stored nothing since.
    private var lacksRoom = false
    /// Until when actions are refused because the journal has no room; `nil` from the first turn after that time on.
    private var fullUntil: Instant?
    private var isFinishing = false

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
        self.program = program
        self.settings = settings
        self.snapshots = snapshots
        self.suspects = suspects
        epoch = history.epoch
        lineage = history.lineage
        feed = Feed(history, settings, actions: program.table.entries, now: now)
        admission = Admission(history, settings)
        commits = CommitQueue(after: history.sequence)
        latest = Version(state: state, summary: history.summary, revision: history.head)
        published = latest
    }

    // MARK: What the shell asks

    /// The state after all reduced actions, published or not.
    package var state: State { latest.state }

    /// The number of batches that are passed to the journal and not published yet.
    package var batchesInFlight: Int { commits.count }

    /// The next number of the primary's own session.
    package var ownNumber: ActionNumber { admission.ownNumber }

    /// The last published position.
    package var position: Position { Position(lineage: lineage, epoch: epoch, revision: published.revision) }

    /// The time of the next `tick` and turn, unless there is work before.
    package var nextDeadline: Instant { min(feed.nextDeadline, fullUntil ?? feed.nextDeadline) }

    /// Whether another turn has work now.
    package func hasWork(at now: Instant) -> Bool {
        feed.hasRequests || admission.hasAnswered || hasLocalWork(at: now)
            || (inbox.first != nil && canMakeBatch(at: now))
    }

    /// Whether another turn can process requests of the primary's own process.
    package func hasLocalWork(at now: Instant) -> Bool { canProcessNext(in: nil, at: now) }

    /// Whether the engine takes one more frame of a sender. If not, frames may wait in the socket, unless another store
    /// takes some.
    package var wantsFrames: Bool {
        let next = Inbox.bytes(ofMessage: limits.frameBytesMax)
        return commits.hasRoom(limits) && (inbox.first == nil || inbox.bytes + next <= limits.heldBytesMax)
    }

    /// Whether the engine takes no more frames and can make a batch of those that wait.
    package func isBehind(at now: Instant) -> Bool { !wantsFrames && canMakeBatch(at: now) }

    private var limits: Limits { settings.limits }
    private var hasJournal: Bool { settings.commitment != .none }
    private func isFull(at now: Instant) -> Bool { fullUntil.map { now < $0 } ?? false }
    private func canMakeBatch(at now: Instant) -> Bool { commits.hasRoom(limits) && !isFull(at: now) }

    // MARK: Events

    /// The store is served from now on.
    package mutating func begin(initialEffect: Effect, into directives: inout Directives) {
        directives.append(.show(published.state, published.revision))
        directives.append(.start(initialEffect, key(of: published.revision, start: epoch.rawValue)))
        storeSnapshotIfDue(into: &directives)
    }

    /// A subscription, which is a request for the topic's data.
    package mutating func subscribed(to topic: Topic, into directives: inout Directives) {
        switch topic {
        case .feed, .actions: break
        case .schema: append(feed.schemaRequested(sessions: admission.sessions.count), to: &directives)
        case .receipts(let session):
            let durable = commits.published
            answer(&directives) { $0.subscribed(to: session, durable: durable, into: &$1) }
        case .join(let nonce, let position):
            append(feed.joinRequested(JoinQueue.Request(nonce: nonce, position: position)), to: &directives)
        case .snapshot(let lineage, let revision, let index):
            let request = JoinQueue.ChunkRequest(lineage: lineage, revision: revision, index: index)
            append(feed.chunkRequested(request), to: &directives)
        }
    }

    /// The last subscriber of a topic is gone.
    package mutating func unsubscribed(from topic: Topic, into directives: inout Directives) {
        switch topic {
        case .join(let nonce, let position):
            append(feed.joinAbandoned(JoinQueue.Request(nonce: nonce, position: position)), to: &directives)
        case .snapshot(let lineage, let revision, let index):
            feed.chunkAbandoned(JoinQueue.ChunkRequest(lineage: lineage, revision: revision, index: index))
        case .feed, .actions, .schema, .receipts: break
        }
    }

    /// A frame of a sender, which waits for a turn.
    package mutating func received(_ frame: ActionsFrame, at now: Instant, into directives: inout Directives) {
        let (session, durable) = (frame.header.session, commits.published)
        if isFull(at: now) { return refuseForLackOfRoom(frame.identity, of: session, into: &directives) }
        var isForThisHistory = false
        answer(&directives) { isForThisHistory = $0.isForThisHistory(frame, durable: durable, into: &$1) }
        guard isForThisHistory, !isFinishing, !inbox.append(frame, bytesMax: limits.heldBytesMax) else { return }
        let reason = Rejection(.overloaded, "this store is overloaded; the sender retries")
        let delay = limits.retryDelayMin
        answer(&directives) { $0.refuse(frame.identity, of: session, reason, retryAfter: delay, into: &$1) }
    }

    /// A request of the primary's own process, which waits for a turn.
    package mutating func requested(_ request: LocalRequest) { locals.append(request) }

    /// The work of an effect was cancelled: its actions that wait will not be reduced.
    package mutating func cancelled(run: UInt64) { locals.cancel(run: run) }

    /// Takes a turn: makes at most one batch of the frames and requests that wait, and answers joiners.
    ///
    /// - Parameter time: the wall clock.
    package mutating func turn(
        at now: Instant,
        time: Timestamp,
        _ budget: TurnBudget = TurnBudget(),
        marking: some ReductionMarking,
        into directives: inout Directives
    ) {
        let surroundings = BatchSurroundings(
            program: program,
            limits: limits,
            hasJournal: hasJournal,
            suspects: suspects,
            time: time
        )
        var batch = Batch(after: latest, surroundings)
        if !isFull(at: now) { fullUntil = nil }
        if canMakeBatch(at: now) { takeFrames(into: &batch, budget, marking: marking, &directives) }
        takeRequests(into: &batch, budget, at: now, &directives)
        close(batch, marking: marking, into: &directives)
        admission.evictExcess()
        // After all parts of the batch: an effect that a part cancels must not send an action in a later one.
        if !hasJournal { publish(through: commits.sequence, into: &directives) }
        admission.endTurn()
        if feed.hasRequests { append(feed.serve(at: now, time: time), to: &directives) }
        directives.append(.count(.joinsWaiting(feed.joinsWaiting)))
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
            append(feed.snapshotFailed(reason), to: &directives)
        }
    }

    /// A snapshot is stored in the journal, or could not be.
    package mutating func snapshotStored(isStored: Bool) { snapshots.finish(isStored: isStored) }

    /// Updates were read from the journal for returning replicas; `nil` if the history cannot serve them.
    package mutating func pastRead(_ updates: [Update]?, after revision: Revision) {
        feed.pastRead(updates, after: revision)
    }

    /// The store ends: no more frames are taken, and those that wait are dropped.
    package mutating func finish() {
        isFinishing = true
        _ = inbox.removeAll()
    }

    /// The store is not served any more: resolves what is left.
    package mutating func end(into directives: inout Directives) {
        var requests: [LocalRequest] = []
        for batch in commits.rollBack() {
            for followUp in batch.followUps { answerAsUnknown(followUp, into: &directives) }
            requests += batch.joining.map { .observe($0.observer, $0.replay) }
        }
        directives.append(.returnRequests(requests + locals.removeAll()))
        guard hasJournal, commits.published > snapshots.covered else { return }
        directives.append(.storeSnapshot(snapshot(isLast: true)))
    }

    /// The store ends while the record of an action is in flight.
    private func answerAsUnknown(_ followUp: FollowUp, into directives: inout Directives) {
        guard let id = followUp.local?.id else { return }
        let reason = "the primary was stopped; action \(followUp.number) may or may not have been made durable"
        directives.append(.answer(id, .rejected(Rejection(.outcomeUnknown, reason))))
    }
}

// MARK: A batch

extension StoreEngine {
    /// Reduces the frames that wait, within the budget. What is left of the last one is reduced in the next turn.
    private mutating func takeFrames(
        into batch: inout Batch<State>,
        _ budget: TurnBudget,
        marking: some ReductionMarking,
        _ directives: inout Directives
    ) {
        var left = budget
        while left.actions > 0, left.bytes > 0, var frame = inbox.first {
            let durable = commits.published
            var admitted: Admission.Admitted?
            answer(&directives) { admitted = $0.admit(frame, durable: durable, into: &$1) }
            // The answer to a known action counts as an action.
            guard let admitted, admitted.count > 0 else {
                left.actions -= max(1, admitted?.known ?? 0)
                inbox.removeFirst()
                continue
            }
            if admitted.known > 0 {
                _ = frame.remove(admitted.known)
                left.actions -= admitted.known
                guard left.actions > 0 else { return inbox.replaceFirst(with: frame) }
            }
            let slice = frame.remove(min(admitted.count, left.actions), bytesMax: left.bytes)
            let outcomes = batch.reduce(slice, of: frame.frame, opened: admitted.opened, marking: marking)
            admission.append(outcomes, of: frame.frame.header.session)
            left.actions -= slice.count
            left.bytes -= slice.byteCount
            // A sender that exceeds its window sends the excess again.
            if slice.count < admitted.count { inbox.replaceFirst(with: frame) } else { inbox.removeFirst() }
        }
    }

    /// Processes the requests of the primary's own process in order, up to the first one that has to wait.
    private mutating func takeRequests(
        into batch: inout Batch<State>,
        _ budget: TurnBudget,
        at now: Instant,
        _ directives: inout Directives
    ) {
        var left = budget.actions
        while left > 0, batch.ownBytes < budget.bytes, canProcessNext(in: batch, at: now),
            let (request, isCancelled) = locals.first
        {
            locals.removeFirst()
            switch request {
            case .action(let action) where isCancelled: answer(action, .rejected(.effectCancelled), &directives)
            case .action(let action):
                admission.append(batch.reduce(action, admission.ownNumber, isCancelled: false), of: .primary)
                left -= 1
            case .observe(let observer, let replay): admit(observer, replay, into: &batch, &directives)
            case .ignore(let observer): directives.append(.remove(observer))
            }
        }
    }

    /// Whether the first waiting request can be processed now.
    private func canProcessNext(in batch: Batch<State>?, at now: Instant) -> Bool {
        guard let (request, isCancelled) = locals.first else { return false }
        guard case .action(let action) = request, !isCancelled else { return true }
        guard canMakeBatch(at: now), admission.ownRoom > 0 else { return false }
        // An action that is reduced and not durable yet may cancel the effect that sent this one. Whether it is still
        // wanted is known once that action is durable, or rolled back.
        guard let id = action.effectID else { return true }
        return !(batch?.cancelled.contains(id) ?? false) && !commits.cancels(id)
    }

    /// Adds an observer. A replayed state contains the actions that were dispatched before, so a replay waits until
    /// these are published. An observer without a replay is added at once: later actions may still join the batch, and
    /// the observer must observe them.
    private mutating func admit(
        _ observer: ObserverID,
        _ replay: Replay,
        into batch: inout Batch<State>,
        _ directives: inout Directives
    ) {
        if replay == .none {
            directives.append(.admit(observer, .none))
        } else if !batch.isEmpty {
            batch.joining.append((observer, replay))
        } else if !commits.join(observer, replay) {
            directives.append(.admit(observer, replay))
        }
    }

    /// Passes a batch to the journal. One that cannot be encoded, or is too large for a frame, is reduced again in
    /// halves, until the actions that cause it are alone: these are rejected.
    ///
    /// The results of the first pass are dropped, including effects, dispatched actions and decisions of middlewares,
    /// since they depend on a state that is rolled back. So a middleware may see an action more than once.
    private mutating func close(
        _ batch: consuming Batch<State>,
        marking: some ReductionMarking,
        into directives: inout Directives
    ) {
        guard !batch.isEmpty else { return }
        let reason: Rejection
        do throws(Rejection) { return commit(batch, try change(to: batch.version.state), into: &directives) } catch {
            reason = error
        }
        admission.rewind(batch.outcomes)
        _ = batch.endMiddlewares(showing: published.state)
        let joining = batch.joining
        guard batch.count > 1 else {
            var rejected = batch.emptied(after: latest)
            rejected.joining = joining
            for item in batch.items { append(rejected.reject(item, reason), of: item) }
            return commit(rejected, Change(patch: [], summary: latest.summary), into: &directives)
        }
        let (first, second) = batch.halves()
        for (items, isLast) in [(first, false), (second, true)] {
            var half = batch.emptied(after: latest)
            for item in items {
                append(half.reduce(item, marking: marking) { [commits] in commits.cancels($0) }, of: item)
            }
            if isLast { half.joining = joining }
            close(half, marking: marking, into: &directives)
        }
    }

    private mutating func append(_ outcomes: OutcomeRuns, of item: Batch<State>.Item) {
        switch item {
        case .slice(_, _, let session, _): admission.append(outcomes, of: session)
        case .local: admission.append(outcomes, of: .primary)
        }
    }

    /// The patch from the last batch to a state, and the state's summary.
    private struct Change {
        let patch: [UInt8]
        let summary: Summary
    }

    /// - Throws: ``Rejection`` if the change cannot be published.
    private func change(to state: State) throws(Rejection) -> Change {
        let difference: Difference
        do { difference = try Differ.patch(from: latest.state, to: state) } catch {
            throw Rejection(.unencodable, "the state cannot be published after it: \(error)")
        }
        let patch = difference.patch.encode()
        let bytesMax = limits.patchBytesMax
        guard patch.count <= bytesMax else {
            throw Rejection(
                .tooLarge,
                "the change has \(patch.count) bytes, an update at most \(bytesMax): make it in several actions"
            )
        }
        var summary = latest.summary
        summary.advance(by: difference)
        let stateBytesMax = limits.snapshotBytesMax
        guard summary.bytes <= max(stateBytesMax, latest.summary.bytes) else {
            throw Rejection(
                .tooLarge,
                "the state would have \(summary.bytes) bytes, more than the \(stateBytesMax) that a replica accepts"
            )
        }
        return Change(patch: patch, summary: summary)
    }

    private mutating func commit(_ batch: consuming Batch<State>, _ change: Change, into directives: inout Directives) {
        let (from, to) = (latest.revision, batch.version.revision)
        latest = Version(state: batch.version.state, summary: change.summary, revision: to)
        directives += batch.notices.map { .log($0) }
        let dispatched = batch.endMiddlewares(showing: published.state)
        let forgotten = admission.drainForgotten()
        let patch = to > from ? change.patch : []
        let head = RecordHead(epoch: epoch, from: from, to: to, summary: change.summary)
        let body = batch.recordBody(head, forgotten: forgotten, patch: patch)
        let sequence = commits.sequence.next
        commits.append(
            ClosedBatch(
                sequence: sequence,
                update: to > from ? Update(lineage: lineage, epoch: epoch, from: from, to: to, patch: patch) : nil,
                version: latest,
                outcomes: batch.outcomes,
                forgotten: forgotten,
                followUps: batch.followUps,
                cancelled: batch.cancelled,
                dispatched: dispatched,
                joining: batch.joining,
                counts: batch.counts,
                bytes: body.count
            )
        )
        guard hasJournal else {
            commits.stored(through: sequence)
            return
        }
        snapshots.count(body.count)
        directives.append(.commit(CommittedBatch(sequence: sequence, from: from, to: to, body: body)))
    }
}

// MARK: The journal

extension StoreEngine {
    /// A relaxed journal has accepted the records up to one: they may be published before they are stored.
    package mutating func accepted(through sequence: JournalSequence, into directives: inout Directives) {
        publish(through: sequence, into: &directives)
    }

    /// The journal has stored the records up to one.
    package mutating func stored(through sequence: JournalSequence, into directives: inout Directives) {
        // A journal may report the records again that it had stored before it was full.
        guard commits.stored(through: sequence) else { return }
        if settings.commitment == .stored { publish(through: sequence, into: &directives) }
        if lacksRoom { directives.append(.log(.hasRoomAgain)) }
        (lacksRoom, fullUntil) = (false, nil)
    }

    /// The journal has no room.
    ///
    /// Unless the records are published already, rolls back to the last durable state. Senders send their actions
    /// again; local actions wait, or are rejected if a caller awaits them.
    package mutating func journalIsFull(_ message: String, at now: Instant, into directives: inout Directives) {
        if !lacksRoom { directives.append(.log(.full(message))) }
        lacksRoom = true
        fullUntil = now.advanced(by: limits.retryDelayMin)
        let reason = Rejection(.storageFull, message)
        guard settings.commitment == .stored else {
            for action in locals.removeAwaited() { answer(action, .rejected(reason), &directives) }
            return
        }
        let undone = commits.rollBack()
        // The next record has to list these evictions instead.
        admission.rollBack(forgetting: undone.flatMap(\.forgotten))
        latest = published
        for (observer, replay) in undone.flatMap(\.joining) { directives.append(.admit(observer, replay)) }
        var waiting: [LocalAction] = []
        for action in undone.flatMap(\.followUps).compactMap(\.local) {
            if action.origin == .awaited {
                answer(action, .rejected(reason), &directives)
            } else {
                waiting.append(action)
            }
        }
        locals.prepend(waiting)
        directives.append(.resumeJournal)
        // Each session's first frame: a refusal is sent once a turn.
        for part in undone.flatMap(\.outcomes) where part.session != .primary {
            let frame = Refusal.PushedFrame(opened: part.opened, first: part.outcomes.start)
            refuseForLackOfRoom(frame, of: part.session, into: &directives)
        }
        for frame in inbox.removeAll() {
            refuseForLackOfRoom(frame.identity, of: frame.frame.header.session, into: &directives)
        }
    }

    private mutating func refuseForLackOfRoom(
        _ frame: Refusal.PushedFrame,
        of session: SessionID,
        into directives: inout Directives
    ) {
        let reason = Rejection(.storageFull, "the primary has no room to store actions; they wait until it has")
        let delay = limits.retryDelayMin
        answer(&directives) { $0.refuse(frame, of: session, reason, retryAfter: delay, into: &$1) }
    }

    /// Publishes the batches up to a record: their updates and receipts, then their effects on the primary's own
    /// process.
    private mutating func publish(through sequence: JournalSequence, into directives: inout Directives) {
        while let batch = commits.dequeue(through: sequence) {
            published = batch.version
            if let update = batch.update {
                feed.append(update, summary: batch.version.summary)
                directives.append(.publish(.feed, .update(update)))
            }
            for part in batch.outcomes { answer(&directives) { $0.published(part, into: &$1) } }
            directives.append(.count(.published(batch.counts, patchBytes: batch.update?.patch.count)))
            // Not before: the action of a batch that is rolled back dispatches again when it is sent again.
            if !batch.dispatched.isEmpty { directives.append(.dispatch(batch.dispatched)) }
            if batch.update != nil { directives.append(.show(published.state, published.revision)) }
            for (observer, replay) in batch.joining { directives.append(.admit(observer, replay)) }
            for followUp in batch.followUps { perform(followUp, into: &directives) }
            clearSuspects(batch.outcomes, into: &directives)
        }
        storeSnapshotIfDue(into: &directives)
    }

    /// Starts the effect of a published action, and reports its outcome.
    private func perform(_ followUp: FollowUp, into directives: inout Directives) {
        switch followUp.outcome {
        case .applied(let revision):
            if !followUp.effect.isNone { directives.append(.start(followUp.effect, key(of: revision))) }
            let position = Position(lineage: lineage, epoch: epoch, revision: revision)
            if let local = followUp.local { answer(local, .applied(followUp.number, position), &directives) }
        case .rejected(let rejection):
            if let local = followUp.local { answer(local, .rejected(rejection), &directives) }
        }
    }

    private func key(of revision: Revision, start: UInt64? = nil) -> IdempotencyKey {
        IdempotencyKey(lineage: lineage.description, revision: revision.rawValue, index: 0, start: start)
    }

    /// Resolved actions did not crash the process, or will not be reduced again.
    private mutating func clearSuspects(_ outcomes: [SessionOutcomes], into directives: inout Directives) {
        guard !suspects.isEmpty else { return }
        suspects.removeAll { suspect in
            let isResolved = outcomes.contains {
                $0.session == suspect.session && $0.outcomes.outcome(of: suspect.number) != nil
            }
            if isResolved { directives.append(.clearSuspect(suspect.session, suspect.number)) }
            return isResolved
        }
    }

    /// Stores the published state as a snapshot if one is due.
    private mutating func storeSnapshotIfDue(into directives: inout Directives) {
        let (bytes, last) = (published.summary.bytes, commits.published)
        guard hasJournal, snapshots.start(settings.snapshots, stateBytes: bytes, at: last) else { return }
        directives.append(.storeSnapshot(snapshot(isLast: false)))
    }

    private func snapshot(isLast: Bool) -> StoredSnapshot<State> {
        StoredSnapshot(
            state: published.state,
            revision: published.revision,
            sequence: commits.published,
            context: SnapshotContext(
                epoch: epoch,
                stateVersion: settings.stateVersion,
                summary: published.summary,
                sessions: admission.sessions,
                migrations: settings.migrations
            ),
            isLast: isLast
        )
    }
}

// MARK: Directives

extension StoreEngine {
    private mutating func answer(
        _ directives: inout Directives,
        _ change: (inout Admission, inout [PlainDirective]) -> Void
    ) {
        var plain: [PlainDirective] = []
        change(&admission, &plain)
        append(plain, to: &directives)
    }

    private func append(_ plain: [PlainDirective], to directives: inout Directives) {
        for directive in plain {
            switch directive {
            case .publish(let topic, let frame): directives.append(.publish(topic, frame))
            case .encodeSnapshot:
                let digest = published.summary.digest
                directives.append(.encodeSnapshot(published.state, published.revision, digest: digest))
            case .readPast(let start, let end, let bytesMax):
                directives.append(.readPast(after: start, through: end, bytesMax: bytesMax))
            case .count(let event): directives.append(.count(event))
            }
        }
    }

    private func answer(_ action: LocalAction, _ outcome: LocalOutcome, _ directives: inout Directives) {
        if let id = action.id { directives.append(.answer(id, outcome)) }
    }
}
