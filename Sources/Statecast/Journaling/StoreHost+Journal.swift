internal import DequeModule
internal import Journal
internal import Logging
internal import StateCoding
internal import SyncProtocol

/// Records, and what the store does when the journal has stored them or failed to.
extension StoreHost {
    // MARK: Records

    /// An action as the journal stores it; empty without a journal.
    func bytesForJournal(of action: any Action) -> Result<[UInt8], Rejection> {
        guard journal != nil else { return .success([]) }
        do {
            let bytes = try ActionCoding.encode(action)
            if let rejection = machine.rejection(ofBytes: bytes.count) { return .failure(rejection) }
            return .success(bytes)
        } catch {
            return .failure(Rejection(.unencodable, "the action cannot be journaled: \(error)"))
        }
    }

    /// Appends a record to the journal, with the actions that it resolves.
    func write(_ record: Record, to journal: JournalWriter) {
        var batch = BatchRecord(
            epoch: machine.epoch,
            from: record.from,
            to: record.to,
            digest: record.summary.digest,
            bytes: record.summary.bytes,
            runs: runs(of: record),
            forgotten: record.forgotten,
            patch: record.update?.patch ?? []
        )
        batch.dropMessages(bytesMax: runtime.limits.sessionMessageBytesMax)
        let body = batch.encoded
        snapshots.count(body.count)
        journal.append(JournalRecord(sequence: record.sequence, from: record.from, to: record.to, body: body))
    }

    private func runs(of record: Record) -> [BatchRecord.Run] {
        var actions = resolved[...]
        return record.outcomes.flatMap { outcomes in
            let count = outcomes.last.distance(beyond: outcomes.first) + 1
            defer { actions = actions.dropFirst(count) }
            return runs(of: actions.prefix(count), opened: outcomes.opened)
        }
    }

    /// Splits actions that arrived at different times, since each run has one time.
    private func runs(of actions: ArraySlice<ResolvedAction>, opened: JournalSequence) -> [BatchRecord.Run] {
        var runs: [BatchRecord.Run] = []
        for action in actions {
            if runs.last?.time != action.context.time || runs.last?.user != action.context.user {
                let run = BatchRecord.Run(
                    session: action.session,
                    opened: opened,
                    first: action.number,
                    time: action.context.time,
                    user: action.context.user,
                    entries: []
                )
                runs.append(run)
            }
            runs[runs.count - 1].entries.append(BatchRecord.Entry(action))
        }
        return runs
    }

    // MARK: Results

    func journaled(_ outcome: Result<JournalSequence, JournalFailure>) {
        switch outcome {
        case .success(let sequence):
            if journal?.durability != .relaxed { committed(through: sequence) }
            if fullUntil != nil { logger.notice("there is room in the journal again", metadata: ["store": "\(name)"]) }
            fullUntil = nil
        case .failure(let failure) where failure.code == .storageFull:
            beginRefusal(failure)
            if journal?.durability == .relaxed { refuseWaiting(failure) } else { rollBack(failure) }
        case .failure(let failure): runtime.fail(StatecastError(.journal, "\(failure)", cause: failure))
        }
    }

    var hasRoom: Bool {
        guard let journal else { return true }
        return machine.hasRoom && journal.bytes < runtime.limits.uncommittedBytesMax
    }

    /// Waits until the journal has processed all records, and processes the results. Results are also posted to the
    /// loop, which is already stopping.
    func drainJournal() {
        guard let journal else { return }
        for outcome in journal.drain() { journaled(outcome) }
    }

    // MARK: Full storage

    /// Whether actions are refused because the journal has no room.
    var isFull: Bool { fullUntil.map { runtime.clock.now < $0 } ?? false }

    private func beginRefusal(_ failure: JournalFailure) {
        if fullUntil == nil {
            logger.error("\(failure); actions are refused until there is room", metadata: ["store": "\(name)"])
        }
        fullUntil = runtime.clock.now.advanced(by: runtime.limits.retryDelayMin)
    }

    /// Rolls back to the last durable state, since the journal has no room for the records in flight. Senders send
    /// their actions again; local actions wait, or are rejected if a caller awaits them.
    private func rollBack(_ failure: JournalFailure) {
        let senders = machine.rollBack()
        (state, closed, summary) = (published, published, publishedSummary)
        let undone = inFlight.flatMap(\.followUps)
        for (observer, replay) in inFlight.flatMap(\.joining) { observers.insert(observer, replay: replay) }
        inFlight.removeAll()
        waiting.insert(
            contentsOf: undone.compactMap(\.local).compactMap { refused($0, failure) },
            at: waiting.startIndex
        )
        journal?.resume()
        for (session, frame) in senders { perform(refusalForLackOfRoom(frame, of: session)) }
    }

    /// Rejects the waiting actions that a caller awaits.
    private func refuseWaiting(_ failure: JournalFailure) {
        waiting = Deque(
            waiting.compactMap { request in
                guard case .action(let action) = request else { return request }
                return refused(action, failure)
            }
        )
    }

    /// Rejects an action that a caller awaits.
    ///
    /// - Returns: the action, to wait further, if no caller awaits it.
    private func refused(_ action: LocalAction, _ failure: JournalFailure) -> LocalRequest<State>? {
        guard case .awaited = action else { return .action(action) }
        action.resolve(.failure(Rejection(.storageFull, failure.message)))
        return nil
    }

    /// The refusal of a sender's frame while the journal has no room.
    func refusalForLackOfRoom(_ frame: ActionsFrame) -> [PrimaryDirective]? {
        isFull ? refusalForLackOfRoom(frame.identity, of: frame.header.session) : nil
    }

    private func refusalForLackOfRoom(_ frame: Refusal.PushedFrame, of session: SessionID) -> [PrimaryDirective] {
        machine.refuse(
            frame,
            of: session,
            Rejection(.storageFull, "the primary has no room to store actions; they wait until it has"),
            retryAfter: runtime.limits.retryDelayMin
        )
    }

    // MARK: Actions that crash the process

    /// - Throws: ``Rejection`` with code `crashed-reducer` for an action that has crashed the process repeatedly.
    func refusePoison(_ session: SessionID, _ number: ActionNumber) throws(Rejection) {
        guard let crashMarker, crashMarker.hasSuspects, crashMarker.isPoison(session, number) else { return }
        throw Rejection(
            .crashedReducer,
            "the primary crashed twice in a row while it reduced this action, and does not try again"
        )
    }

    /// Resolved actions did not crash the process, or will not be reduced again.
    func clearSuspicions(_ record: Record) {
        guard let crashMarker, crashMarker.hasSuspects else { return }
        for outcomes in record.outcomes {
            var number = outcomes.first
            while number <= outcomes.last {
                crashMarker.resolve(outcomes.session, number)
                number = number.next
            }
        }
    }
}

extension BatchRecord.Entry {
    fileprivate init(_ action: ResolvedAction) {
        switch action.outcome {
        case .applied: self.init(action: action.bytes, rejection: nil)
        case .rejected(let rejection): self.init(action: action.bytes, rejection: rejection)
        }
    }
}

/// Decides when the journal of a store gets its next snapshot.
struct SnapshotSchedule {
    /// The bytes of records before the first snapshot of an incarnation. The interval doubles up to the policy's, so
    /// that a young journal soon has more than its first snapshot.
    static let firstBytes = 1 << 20

    private var bytes = 0
    /// The number of records after the last snapshot.
    private(set) var records = 0
    private var isUnderway = false
    private var intervalBytes = firstBytes
    /// The last record that a snapshot contains, or will when it is stored.
    private(set) var covered: JournalSequence
    private var stored: JournalSequence
    /// Whether a snapshot is due regardless of the counts.
    var isWanted = false

    /// - Parameter stored: the last record that the newest snapshot contains.
    init(after stored: JournalSequence = JournalSequence(0)) { (covered, self.stored) = (stored, stored) }

    /// Counts a record, with its size in bytes.
    mutating func count(_ bytes: Int) {
        self.bytes += bytes
        records += 1
    }

    /// Starts a snapshot if one is due, and resets the counts.
    ///
    /// - Parameter last: the last record that the snapshot contains.
    /// - Returns: whether one is started.
    mutating func start(_ policy: JournalPolicy, stateBytes: Int, at last: JournalSequence) -> Bool {
        let isDue =
            bytes >= max(min(intervalBytes, policy.snapshotBytes), stateBytes) || records >= policy.snapshotRecords
        guard !isUnderway, isDue || isWanted else { return false }
        (bytes, records, isWanted, isUnderway) = (0, 0, false, true)
        intervalBytes = min(2 * intervalBytes, max(intervalBytes, policy.snapshotBytes))
        covered = last
        return true
    }

    /// The snapshot that was started is stored, or failed.
    mutating func finish(isStored: Bool) {
        isUnderway = false
        if isStored { stored = covered } else { covered = stored }
    }
}

extension StoreHost {
    /// Stores the published state as a snapshot if one is due, off the loop and in parallel with commits.
    func storeSnapshotIfDue() {
        guard let journal,
            snapshots.start(
                runtime.journalPolicy,
                stateBytes: publishedSummary.bytes,
                at: machine.durable
            )
        else { return }
        storeSnapshot(.regular, in: journal) { [name, onLoop = runtime.onLoop] entry, outcome in
            onLoop(name) { $0.snapshotStored(entry, outcome) }
        }
    }

    /// Stores the published state before the journal is closed, so that the next start has to read no records.
    func storeSnapshotOfStop() {
        guard let journal, machine.durable > snapshots.covered else { return }
        storeSnapshot(.interim, in: journal) { [name, logger, journalMetrics] entry, outcome in
            Self.report(entry, outcome, name, journalMetrics, logger)
        }
    }

    /// - Parameter done: called on a thread of the journal with the result.
    private func storeSnapshot(
        _ kind: SnapshotKind,
        in journal: JournalWriter,
        done: @escaping @Sendable (SnapshotEntry, Result<Int, any Error>) -> Void
    ) {
        let entry = SnapshotEntry(sequence: machine.durable, revision: machine.head)
        let context = SnapshotContext(
            epoch: machine.epoch,
            stateVersion: definition.stateVersion,
            summary: publishedSummary,
            sessions: machine.sessions,
            migrations: definition.evolution.count
        )
        let (state, historyBytes) = (published, runtime.journalPolicy.historyBytes)
        journal.performAfterDrain { journal in
            // A failure of the journal itself ends the primary, which reports it.
            if kind == .interim, case .failure = journal { return }
            let outcome: Result<Int, any Error> = Result {
                let journal = try journal.get()
                let bytes = try StateEncoder().encode(state)
                guard try Summary(ofEncoded: bytes).digest == context.summary.digest else {
                    throw JournalFailure(.misfit, "the encoded state differs from the published one")
                }
                try journal.store(JournalSnapshot(entry, context: context.encoded, state: bytes), as: kind)
                // A stop has little time, and its snapshot replaces that of the last stop.
                if kind == .regular { try journal.prune(keeping: historyBytes) }
                return bytes.count
            }
            done(entry, outcome)
        }
    }

    func snapshotStored(_ entry: SnapshotEntry, _ outcome: Result<Int, any Error>) {
        snapshots.finish(isStored: (try? outcome.get()) != nil)
        Self.report(entry, outcome, name, journalMetrics, logger)
    }

    private static func report(
        _ entry: SnapshotEntry,
        _ outcome: Result<Int, any Error>,
        _ name: StoreName,
        _ journalMetrics: JournalMetrics,
        _ logger: Logger
    ) {
        switch outcome {
        case .success(let bytes):
            journalMetrics.snapshotStored(bytes: bytes)
            logger.debug("snapshot stored", metadata: ["store": "\(name)", "revision": "\(entry.revision)"])
        case .failure(let error):
            journalMetrics.snapshotFailed()
            // Nothing is lost: the records are stored, and the next snapshot may succeed.
            logger.error(
                "no snapshot of revision \(entry.revision) is stored: \(error)",
                metadata: ["store": "\(name)"]
            )
        }
    }
}

/// Updates for replicas that return after a long time: read from the journal, off the loop.
extension StoreHost {
    func readPast(after start: Revision, through end: Revision, bytesMax: Int) {
        guard let journal else { return pastRead(nil, after: start) }
        let (lineage, epoch, limits) = (machine.lineage, machine.epoch, runtime.limits)
        journal.read { [name, logger, onLoop = runtime.onLoop] journal in
            var updates: [Update]?
            do {
                let bounds = PastBounds(
                    patchBytes: bytesMax,
                    recordBytes: max(bytesMax, PastBounds.recordBytesMin),
                    updates: limits.catchUpComposedMax
                )
                let read = try journal.updates(after: start, through: end, bounds, lineage, epoch)
                // The patch of a migration may not fit into a frame.
                updates = read?.allSatisfy { $0.patch.count <= limits.patchBytesMax } == true ? read : nil
            } catch {
                // The replicas get a snapshot.
                logger.warning("cannot read the journal for replicas: \(error)", metadata: ["store": "\(name)"])
            }
            onLoop(name) { [updates] in $0.pastRead(updates, after: start) }
        }
    }

    func pastRead(_ updates: [Update]?, after revision: Revision) { machine.pastRead(updates, after: revision) }
}

/// The bounds beyond which a snapshot is cheaper.
private struct PastBounds {
    let patchBytes: Int
    /// Includes the actions in the records, which replicas do not need.
    let recordBytes: Int
    let updates: Int

    /// The minimum to read, regardless of the size of the state.
    static let recordBytesMin = 16 << 20
}

extension Journal {
    /// The updates from one revision to another, for an incarnation; `nil` if they exceed the bounds, or if no update
    /// begins or ends there.
    fileprivate func updates(
        after start: Revision,
        through end: Revision,
        _ bounds: PastBounds,
        _ lineage: Lineage,
        _ epoch: Epoch
    ) throws -> [Update]? {
        guard var last = try sequence(at: start) else { return nil }
        var updates: [Update] = []
        var (patchBytes, recordBytes) = (0, 0)
        while true {
            let records = try records(after: last, bytesMax: 1 << 20)
            guard let read = records.last else { return nil }
            last = read.sequence
            recordBytes += records.reduce(0) { $0 + $1.body.count }
            guard recordBytes <= bounds.recordBytes else { return nil }
            for record in records where record.to > record.from {
                guard record.from == updates.last?.to ?? start, record.to <= end else { return nil }
                let patch = try BatchRecord(decoding: record.body).patch
                patchBytes += patch.count
                guard patchBytes <= bounds.patchBytes, updates.count < bounds.updates else { return nil }
                updates.append(Update(lineage: lineage, epoch: epoch, from: record.from, to: record.to, patch: patch))
                if record.to == end { return updates }
            }
        }
    }
}
