internal import DequeModule
internal import Journal
internal import Logging
internal import StateCoding
internal import SyncProtocol

/// One store on its node: the typed state, its reducer, and the state machine.
///
/// This file receives events, performs the machine's directives, and serves the primary's own process. The batch and
/// the journal have files of their own.
final class StoreHost<State: Codable & Equatable & Sendable>: HostedStore {
    var machine: PrimaryMachine
    let definition: TypedStore<State>
    let runtime: StoreRuntime
    let metrics: PrimaryMetrics
    let journalMetrics: JournalMetrics
    /// `nil` for a store without a journal.
    let journal: JournalWriter?
    let crashMarker: CrashMarker?
    let effects: EffectRunner

    /// The state after all reduced actions.
    var state: State
    /// The state after the last closed batch: the next patch starts from it.
    var closed: State
    /// Digest and size of `closed`.
    var summary: Summary
    /// The state at the head, which replicas have.
    var published: State
    /// Digest and size of `published`.
    var publishedSummary: Summary
    /// The actions of the open batch.
    var batch: [BatchedAction] = []
    /// Their outcomes, in the same order.
    var resolved: [ResolvedAction] = []
    var followUps: [FollowUp] = []
    /// The IDs of the effects that the open batch cancels.
    var cancelled: Set<AnyID> = []
    /// Buffers the actions that its middlewares dispatch; `nil` before the first.
    var bufferingDispatcher: BufferingDispatcher?
    /// The observers that were registered since the last batch was closed.
    var joining: [(observer: Listener<Change<State>>, replay: Replay)] = []
    /// The batches whose records are not published yet, in order.
    var inFlight: Deque<ClosedBatch<State>> = []
    /// Requests of the primary's own process that wait.
    var waiting: Deque<LocalRequest<State>> = []
    var observers = ObserverSet<State>()
    /// Until when actions are refused because the journal has no room; `nil` while it has.
    var fullUntil: Instant?
    var snapshots = SnapshotSchedule()
    private let report: RecoveryReport?
    private var isServed = false

    init(_ recovered: RecoveredStore<State>, in runtime: StoreRuntime) {
        let definition = recovered.definition
        machine = PrimaryMachine(
            store: definition.name,
            history: recovered.history,
            stateVersion: definition.stateVersion,
            actions: definition.table.entries,
            actionsEndpoint: runtime.actionsEndpoint,
            readsPast: recovered.journal != nil,
            durability: recovered.journal?.durability.rawValue,
            limits: runtime.limits,
            now: runtime.clock.now
        )
        metrics = PrimaryMetrics(store: definition.name)
        let journalMetrics = JournalMetrics(store: definition.name)
        self.journalMetrics = journalMetrics
        journal = recovered.journal.map { journal in
            JournalWriter(journal, metrics: journalMetrics, retryDelay: runtime.limits.retryDelayMin) {
                [name = definition.name, onLoop = runtime.onLoop] outcome in
                onLoop(name) { $0.journaled(outcome) }
            }
        }
        crashMarker = recovered.journal?.crashMarker
        effects = EffectRunner { [mailbox = definition.mailbox] in mailbox.enqueue(.action(.result($0))) }
        state = recovered.state
        closed = state
        summary = recovered.history.summary
        snapshots = recovered.snapshots
        report = recovered.report
        published = state
        publishedSummary = summary
        self.definition = definition
        self.runtime = runtime
    }

    deinit { end() }

    var name: StoreName { machine.store }
    var head: Revision { machine.head }
    var position: Position { Position(lineage: machine.lineage, epoch: machine.epoch, revision: machine.head) }
    var nextDeadline: Instant { machine.nextDeadline }
    var hasRequests: Bool { machine.hasRequests || hasLocalRequests }
    var logger: Logger { definition.logger }

    // MARK: Lifecycle

    func begin() {
        isServed = true
        observers = definition.mailbox.open(wake: runtime.wake)
        show(at: machine.head)
        let key = IdempotencyKey(
            lineage: machine.lineage.description,
            revision: machine.head.rawValue,
            index: 0,
            start: machine.epoch.rawValue
        )
        logStart()
        effects.start(definition.initialEffect(published), key: key)
        storeSnapshotIfDue()
    }

    /// Logs how the store starts.
    private func logStart() {
        var metadata: Logger.Metadata = [
            "store": "\(name)", "epoch": "\(machine.epoch)", "revision": "\(machine.head)",
        ]
        guard let journal, let report else { return logger.notice("started without a journal", metadata: metadata) }
        metadata["journal"] = "\(journal.description)"
        metadata["durability"] = "\(journal.durability)"
        metadata["milliseconds"] = "\(Int(report.duration / .milliseconds(1)))"
        guard let snapshot = report.snapshot else { return logger.notice("started a new history", metadata: metadata) }
        metadata["snapshot"] = "\(snapshot)"
        metadata["replayed"] = "\(report.records)"
        logger.notice("started", metadata: metadata)
    }

    func finish() {
        dequeueLocalRequests()
        repeat {
            while canProcess {
                processWaiting()
                closeBatch()
            }
            drainJournal()
        } while canProcess
    }

    func end() {
        guard isServed else { return }
        isServed = false
        effects.cancelAll()
        for followUp in inFlight.flatMap(\.followUps) + followUps { resolveAsUnknown(followUp) }
        let registrations = (inFlight.flatMap(\.joining) + joining).map {
            LocalRequest.observe($0.observer, replay: $0.replay)
        }
        definition.mailbox.close(keeping: observers, returning: registrations + waiting)
        (inFlight, followUps, joining, waiting, observers) = ([], [], [], [], ObserverSet())
        storeSnapshotOfStop()
        logger.notice(
            "stopped",
            metadata: ["store": "\(name)", "epoch": "\(machine.epoch)", "revision": "\(machine.head)"]
        )
        if let lost = journal?.close() {
            logger.critical(
                "published records could not be stored: \(lost.count): \(lost.failure)",
                metadata: ["store": "\(name)"]
            )
        }
    }

    // MARK: Events

    func subscribed(to topic: Topic) { perform(machine.subscribed(to: topic)) }

    func unsubscribed(from topic: Topic) { perform(machine.unsubscribed(from: topic)) }

    func received(_ frame: ActionsFrame) {
        if let refusal = refusalForLackOfRoom(frame) { return perform(refusal) }
        let (admitted, directives) = machine.admit(frame)
        perform(directives)
        if let admitted { process(admitted) }
    }

    func postpone(_ frame: ActionsFrame) {
        let reason = Rejection(
            .overloaded,
            "the journal of this store is overloaded; the sender retries"
        )
        let retryAfter = runtime.limits.retryDelayMin
        perform(machine.refuse(frame.identity, of: frame.header.session, reason, retryAfter: retryAfter))
    }

    func endTurn() {
        dequeueLocalRequests()
        processWaiting()
        closeBatch()
        if machine.hasRequests {
            perform(machine.serve(at: runtime.clock.now, time: runtime.clock.time))
        }
        metrics.waiting(joins: machine.joinsWaitingCount)
    }

    func tick() {
        // Detects a replaced journal even if no actions arrive: another primary may use the path.
        do throws(JournalFailure) { try journal?.checkPlace() } catch { journaled(.failure(error)) }
        perform(machine.tick(at: runtime.clock.now, time: runtime.clock.time))
    }

    func snapshotEncoded(_ snapshot: EncodedSnapshot) {
        switch snapshot.bytes {
        case .success(let bytes):
            if !snapshot.isAsPublished {
                logger.error(
                    """
                    the state differs from the published one: a part of it changed while its == reported no change; \
                    verifyState of StatecastTesting names it
                    """,
                    metadata: ["store": "\(name)", "revision": "\(snapshot.revision)"]
                )
            }
            machine.snapshotEncoded(
                bytes,
                revision: snapshot.revision,
                digest: snapshot.digest,
                at: runtime.clock.now
            )
        case .failure(let failure):
            // Every change was encoded before, so only a type with an inconsistent encoding fails here.
            logger.critical("the state cannot be encoded for joining replicas", metadata: ["error": "\(failure)"])
            perform(machine.snapshotFailed(Rejection(.unencodable, "the state cannot be encoded: \(failure)")))
        }
    }

    // MARK: Directives

    func perform(_ directives: [PrimaryDirective]) {
        for directive in directives {
            switch directive {
            case .publish(let topic, let frame): runtime.publish(name, topic, frame)
            case .encodeSnapshot: encodeSnapshot()
            case .readPast(let start, let end, let bytesMax): readPast(after: start, through: end, bytesMax: bytesMax)
            case .commit(let record): commit(record)
            case .durable(let record): becameDurable(record)
            case .count(let event): metrics.count(event)
            }
        }
    }

    private func encodeSnapshot() {
        let (state, revision, digest) = (published, machine.head, publishedSummary.digest)
        runtime.encode(name) {
            let bytes = Result { () throws(CodingFailure) in try StateEncoder().encode(state) }
            let whole = try? Summary(ofEncoded: bytes.get())
            return EncodedSnapshot(
                revision: revision,
                digest: digest,
                bytes: bytes,
                isAsPublished: whole?.digest == digest
            )
        }
    }
}

/// From a record to its effects: it becomes durable, and then visible. A relaxed journal may write it afterwards.
extension StoreHost {
    func commit(_ record: Record) {
        defer { resolved.removeAll(keepingCapacity: true) }
        guard let journal else { return runtime.commit(name, record) }
        write(record, to: journal)
        guard journal.durability == .relaxed else { return }
        do throws(JournalFailure) { try journal.checkPublishing() } catch { return journaled(.failure(error)) }
        committed(through: record.sequence)
    }

    func committed(through sequence: JournalSequence) {
        perform(machine.committed(through: sequence, at: runtime.clock.now))
        // After all of them are shown, the published state is the one at the machine's head.
        storeSnapshotIfDue()
    }

    /// Updates and receipts are published. Calls this process's observers, starts effects, and resolves awaited
    /// actions.
    func becameDurable(_ record: Record) {
        let batch = inFlight.removeFirst()
        published = batch.state
        publishedSummary = record.summary
        metrics.closed(record, batch.outcomeCounts)
        if let update = record.update { show(at: update.to) }
        for (observer, replay) in batch.joining { observers.insert(observer, replay: replay) }
        for followUp in batch.followUps {
            start(followUp)
            followUp.local?.resolve(receipt(for: followUp))
        }
        clearSuspicions(record)
    }

    /// Shows the published state to the primary's own process.
    func show(at revision: Revision) {
        definition.mailbox.show(published)
        observers.show(published, revision: revision.rawValue)
    }

    private func receipt(for followUp: FollowUp) -> Result<Receipt, Rejection> {
        switch followUp.outcome {
        case .applied(let revision):
            let position = Position(lineage: machine.lineage, epoch: machine.epoch, revision: revision)
            return .success(Receipt(session: followUp.session, number: followUp.number, position: position))
        case .rejected(let rejection): return .failure(rejection)
        }
    }

    private func start(_ followUp: FollowUp) {
        guard !followUp.effect.isNone, case .applied(let revision) = followUp.outcome else { return }
        let key = IdempotencyKey(lineage: machine.lineage.description, revision: revision.rawValue, index: 0)
        effects.start(followUp.effect, key: key)
    }

    /// The store ends while the record of an action is in flight.
    private func resolveAsUnknown(_ followUp: FollowUp) {
        let reason = "the primary was stopped; action \(followUp.number) may or may not have been made durable"
        followUp.local?.resolve(.failure(Rejection(.outcomeUnknown, reason)))
    }
}

/// The requests of the primary's own process: its actions belong to the primary's own session, and keep their order.
extension StoreHost {
    private func dequeueLocalRequests() { waiting.append(contentsOf: definition.mailbox.dequeueAll()) }

    /// Processes requests in order, up to the first one that has to wait.
    private func processWaiting() {
        while canProcess, let request = waiting.first {
            switch request {
            case .action(let action):
                if action.isWanted {
                    process(action)
                } else {
                    action.resolve(.failure(LocalAction.cancelled))
                }
            case .observe(let observer, let replay): insert(observer, replay: replay)
            case .ignore(let observer): observers.remove(observer)
            }
            waiting.removeFirst()
        }
    }

    private func process(_ action: LocalAction) {
        let context = ActionContext(time: runtime.clock.time)
        let bytes = bytesForJournal(of: action.action)
        process((try? bytes.get()) ?? [], of: .primary, machine.ownNumber, context: context, local: action) {
            () throws(Rejection) in
            _ = try bytes.get()
            return action.action
        }
    }

    /// Whether the next turn can process a request.
    private var hasLocalRequests: Bool { canProcess || (waiting.isEmpty && definition.mailbox.hasRequests) }

    /// Whether the first waiting request can be processed now.
    private var canProcess: Bool {
        switch waiting.first {
        case nil: false
        case .action(let action): !action.isWanted || (hasRoomForOwn && !isBeingCancelled(action))
        case .observe, .ignore: true
        }
    }

    private var hasRoomForOwn: Bool { machine.ownRoom > 0 && hasRoom && !isFull }

    /// Whether an action that is reduced and not durable yet cancels the effect that sent this one. Whether the result
    /// is wanted is known once that action is durable, or rolled back.
    func isBeingCancelled(_ action: LocalAction) -> Bool {
        guard case .result(let result) = action, let id = result.id else { return false }
        return cancelled.contains(id) || inFlight.contains { $0.cancelled.contains(id) }
    }

    /// Adds an observer. A replayed state contains the actions that were dispatched before, so a replay waits until
    /// these are published. An observer without a replay is added at once: later actions may still join the open batch,
    /// and the observer must observe them.
    private func insert(_ observer: Listener<Change<State>>, replay: Replay) {
        if replay == .none {
            observers.insert(observer, replay: .none)
        } else if machine.hasOpenBatch {
            joining.append((observer, replay))
        } else if !inFlight.isEmpty {
            inFlight[inFlight.endIndex - 1].joining.append((observer, replay))
        } else {
            observers.insert(observer, replay: replay)
        }
    }
}
