internal import Journal
internal import Logging
internal import StateCoding
internal import SyncProtocol
internal import Threading

/// Serves one store on its node's loop: passes events to its engine, and performs the engine's directives.
final class StoreShell<State: Codable & Equatable & Sendable>: ServedStore {
    private typealias Engine = StoreEngine<State>

    private let definition: TypedStore<State>
    private let node: NodeServices
    private let metrics: PrimaryMetrics
    let journal: StoreJournal<State>?
    private let marker: OptionalMarker
    let effects: EffectRunner
    /// What other threads report to the engine.
    private let results: EventQueue<StoreResult>

    private(set) var engine: StoreEngine<State>
    private var observers = ObserverSet<State>()
    /// The observers that the engine knows, and their IDs.
    private var listeners: [ObserverID: Listener<Change<State>>] = [:]
    private var observerIDs: [ObjectIdentifier: ObserverID] = [:]
    private var calls: [LocalID: MailboxAction] = [:]
    /// The number of IDs that were given to observers and calls.
    private var idsCount: UInt64 = 0
    /// The last record that a relaxed journal accepted.
    private var accepted: JournalSequence?
    private let report: RecoveryReport?
    private var isServed = false

    init(_ recovered: RecoveredStore<State>, on node: NodeServices) {
        definition = recovered.definition
        self.node = node
        metrics = PrimaryMetrics(store: definition.name)
        report = recovered.report
        marker = OptionalMarker(recovered.journal?.crashMarker)
        let results = EventQueue<StoreResult>(wake: node.wake)
        self.results = results
        journal = recovered.journal.map {
            StoreJournal(
                $0,
                of: recovered.definition,
                limits: node.limits,
                policy: node.journalPolicy,
                results: results
            )
        }
        effects = EffectRunner(onCancel: { results.append(.effectCancelled(run: $0)) }) {
            [mailbox = definition.mailbox] in mailbox.enqueue(.action(.result($0)))
        }
        engine = StoreEngine(
            StoreProgram(
                definition.table,
                reducer: definition.reducer,
                middleware: definition.middleware,
                dispatcher: definition.mailbox
            ),
            StoreSettings(
                limits: node.limits,
                stateVersion: definition.stateVersion,
                migrations: definition.evolution.count,
                actionsEndpoint: node.actionsEndpoint,
                commitment: recovered.journal.map { $0.durability == .relaxed ? .accepted : .stored } ?? .none,
                durability: recovered.journal?.durability.rawValue,
                snapshots: SnapshotPolicy(
                    bytes: node.journalPolicy.snapshotBytes,
                    records: node.journalPolicy.snapshotRecords
                )
            ),
            history: recovered.history,
            state: recovered.state,
            snapshots: recovered.snapshots,
            suspects: marker.suspects,
            now: node.clock.now
        )
    }

    deinit { end() }

    var position: Position { engine.position }
    var nextDeadline: Instant { engine.nextDeadline }
    var wantsFrames: Bool { engine.wantsFrames }
    var isBehind: Bool { engine.isBehind(at: node.clock.now) }
    var hasWork: Bool { engine.hasWork(at: node.clock.now) || definition.mailbox.hasRequests }
    private var name: StoreName { definition.name }
    private var logger: Logger { definition.logger }

    // MARK: Events

    func begin() {
        isServed = true
        observers = definition.mailbox.open(wake: node.wake)
        logStart()
        let effect = definition.initialEffect(engine.state)
        send { $0.begin(initialEffect: effect, into: &$1) }
    }

    func subscribed(to topic: Topic) { send { $0.subscribed(to: topic, into: &$1) } }

    func unsubscribed(from topic: Topic) { send { $0.unsubscribed(from: topic, into: &$1) } }

    func received(_ frame: ActionsFrame) { send { $0.received(frame, at: node.clock.now, into: &$1) } }

    func turn() {
        dequeueRequests()
        takeTurn()
    }

    private func dequeueRequests() {
        for request in definition.mailbox.dequeueAll() { handle(request) }
    }

    private func takeTurn() {
        handleResults()
        send { $0.turn(at: node.clock.now, time: node.clock.time, marking: marker, into: &$1) }
    }

    func tick() {
        // Detects a replaced journal even if no actions arrive: another primary may use the path.
        do throws(JournalFailure) { try journal?.writer.checkPlace() } catch { handle(.journaled(.failure(error))) }
        send { $0.tick(at: node.clock.now, time: node.clock.time, into: &$1) }
    }

    func finish() {
        engine.finish()
        // First what is in flight: its middlewares may have dispatched actions.
        drainJournal()
        // Once: other threads may go on to dispatch.
        dequeueRequests()
        repeat {
            repeat { takeTurn() } while engine.hasLocalWork(at: node.clock.now)
            drainJournal()
        } while engine.hasLocalWork(at: node.clock.now)
    }

    /// Waits for the journal. Its results are also queued, for turns that may not come.
    private func drainJournal() {
        for outcome in journal?.writer.drain() ?? [] { handle(.journaled(outcome)) }
    }

    func end() {
        guard isServed else { return }
        isServed = false
        effects.cancelAll()
        send { $0.end(into: &$1) }
        logger.notice(
            "stopped",
            metadata: ["store": "\(name)", "epoch": "\(position.epoch)", "revision": "\(position.revision)"]
        )
        if let lost = journal?.writer.close() {
            logger.critical(
                "published records could not be stored: \(lost.count): \(lost.failure)",
                metadata: ["store": "\(name)"]
            )
        }
    }

    /// Processes what other threads have reported.
    func handleResults() {
        for result in results.dequeueAll() { handle(result) }
    }

    private func handle(_ result: StoreResult) {
        switch result {
        case .journaled(.success(let sequence)): send { $0.stored(through: sequence, into: &$1) }
        case .journaled(.failure(let failure)) where failure.code == .storageFull:
            send { $0.journalIsFull("\(failure)", at: node.clock.now, into: &$1) }
        case .journaled(.failure(let failure)): fail(failure)
        case .encoded(let snapshot): handle(snapshot)
        case .snapshotStored(let isStored): engine.snapshotStored(isStored: isStored)
        case .pastRead(let updates, let revision): engine.pastRead(updates, after: revision)
        case .effectCancelled(let run): engine.cancelled(run: run)
        }
    }

    private func handle(_ snapshot: EncodedSnapshot) {
        if case .success = snapshot.bytes, !snapshot.isAsPublished {
            logger.error(
                """
                the state differs from the published one: a part of it changed while its == reported no change; \
                verifyState of StatecastTesting names it
                """,
                metadata: ["store": "\(name)", "revision": "\(snapshot.revision)"]
            )
        }
        send {
            $0.snapshotEncoded(
                snapshot.bytes,
                revision: snapshot.revision,
                digest: snapshot.digest,
                at: node.clock.now,
                into: &$1
            )
        }
    }

    private func handle(_ request: MailboxRequest<State>) {
        switch request {
        case .action(let action):
            guard action.isWanted else { return action.resolve(.failure(MailboxAction.cancelled)) }
            engine.requested(.action(local(action)))
        case .observe(let listener, let replay):
            idsCount += 1
            let id = ObserverID(idsCount)
            listeners[id] = listener
            observerIDs[ObjectIdentifier(listener)] = id
            engine.requested(.observe(id, replay))
        case .ignore(let listener):
            // An observer of an earlier start is not known to the engine.
            guard let id = observerIDs[ObjectIdentifier(listener)] else { return observers.remove(listener) }
            engine.requested(.ignore(id))
        }
    }

    private func local(_ action: MailboxAction) -> LocalAction {
        if case .dispatched(let action) = action { return LocalAction(action, origin: .dispatched) }
        idsCount += 1
        let id = LocalID(idsCount)
        calls[id] = action
        return LocalAction(action.action, id: id, origin: action.origin)
    }

    // MARK: Directives

    /// Passes an event to the engine and performs its directives. These do not call the engine, except that the
    /// acceptance by a relaxed journal follows when all are performed.
    private func send(_ event: (inout Engine, inout Engine.Directives) -> Void) {
        var directives: Engine.Directives = []
        event(&engine, &directives)
        for directive in directives { perform(directive) }
        if let sequence = accepted.take() { send { $0.accepted(through: sequence, into: &$1) } }
    }

    private func perform(_ directive: StoreDirective<State>) {
        switch directive {
        case .publish(let topic, let frame): node.publish(Message.encode(frame, to: Address(name, topic)))
        case .commit(let batch): commit(batch)
        case .encodeSnapshot(let state, let revision, let digest):
            BlockingWork.start { [results] in
                results.append(.encoded(EncodedSnapshot(of: state, revision: revision, digest: digest)))
            }
        case .storeSnapshot(let snapshot): journal?.store(snapshot)
        case .readPast(let start, let end, let bytesMax):
            journal?.readPast(after: start, through: end, bytesMax: bytesMax, position.lineage, position.epoch)
        case .show(let state, let revision):
            definition.mailbox.show(state)
            observers.show(state, revision: revision.rawValue)
        case .admit(let id, let replay):
            if let listener = listeners[id] { observers.insert(listener, replay: replay) }
        case .remove(let id):
            guard let listener = listeners.removeValue(forKey: id) else { return }
            observerIDs[ObjectIdentifier(listener)] = nil
            observers.remove(listener)
        case .answer(let id, let outcome): calls.removeValue(forKey: id)?.resolve(outcome.result)
        case .start(let effect, let key): effects.start(effect, key: key)
        case .dispatch(let actions): for action in actions { definition.mailbox.dispatch(action) }
        case .clearSuspect(let session, let number): marker.clear(session, number)
        case .resumeJournal: journal?.writer.resume()
        case .returnRequests(let requests): close(returning: requests)
        case .count(let event): metrics.count(event)
        case .log(let notice): log(notice)
        }
    }

    private func commit(_ batch: CommittedBatch) {
        guard let writer = journal?.writer else { return }
        writer.append(JournalRecord(sequence: batch.sequence, from: batch.from, to: batch.to, body: batch.body))
        guard writer.durability == .relaxed else { return }
        do throws(JournalFailure) {
            try writer.checkPublishing()
            accepted = batch.sequence
        } catch { fail(error) }
    }

    private func fail(_ failure: JournalFailure) {
        node.fail(StatecastError(.journal, "\(failure)", cause: failure))
    }

    private func close(returning requests: [LocalRequest]) {
        let returned = requests.compactMap { request -> MailboxRequest<State>? in
            switch request {
            case .action(let action): .action(action.id.flatMap { calls[$0] } ?? .dispatched(action.action))
            case .observe(let id, let replay): listeners[id].map { .observe($0, replay: replay) }
            case .ignore(let id): listeners[id].map { .ignore($0) }
            }
        }
        definition.mailbox.close(keeping: observers, returning: returned)
        (observers, listeners, observerIDs, calls) = (ObserverSet(), [:], [:], [:])
    }

    // MARK: Log

    private func logStart() {
        var metadata: Logger.Metadata = [
            "store": "\(name)", "epoch": "\(position.epoch)", "revision": "\(position.revision)",
        ]
        guard let writer = journal?.writer, let report else {
            return logger.notice("started without a journal", metadata: metadata)
        }
        metadata["journal"] = "\(writer.description)"
        metadata["durability"] = "\(writer.durability)"
        metadata["milliseconds"] = "\(Int(report.duration / .milliseconds(1)))"
        guard let snapshot = report.snapshot else { return logger.notice("started a new history", metadata: metadata) }
        metadata["snapshot"] = "\(snapshot)"
        metadata["replayed"] = "\(report.records)"
        logger.notice("started", metadata: metadata)
    }

    private func log(_ notice: StoreNotice) {
        let store: Logger.Metadata = ["store": "\(name)"]
        switch notice {
        case .rejected(let rejection):
            logger.debug("action rejected", metadata: ["store": "\(name)", "reason": "\(rejection)"])
        case .warning(let warning):
            logger.warning("runtime warning", metadata: ["store": "\(name)", "warning": "\(warning)"])
        case .full(let message): logger.error("\(message); actions are refused until there is room", metadata: store)
        case .hasRoomAgain: logger.notice("there is room in the journal again", metadata: store)
        case .unencodable(let failure):
            // Every change was encoded before, so only a type with an inconsistent encoding fails here.
            logger.critical(
                "the state cannot be encoded for joining replicas",
                metadata: ["store": "\(name)", "error": "\(failure)"]
            )
        }
    }
}

extension LocalOutcome {
    fileprivate var result: Result<Receipt, Rejection> {
        switch self {
        case .applied(let number, let position):
            .success(Receipt(session: .primary, number: number, position: position))
        case .rejected(let rejection): .failure(rejection)
        }
    }
}
