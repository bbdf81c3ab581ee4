import StatecastJournal
import StatecastProtocol

/// Serves one store on its node's loop: passes events to its engine, and performs the engine's directives.
final class StoreShell<State: Codable & Equatable & Sendable>: RunningStore {
    private let definition: TypedStore<State>
    private let recovery: RecoveryReport?
    private let node: NodeServices
    private let metrics: PrimaryMetrics
    private var log: StoreLog
    private let clients: LocalClients<State>
    let journal: StoreJournal<State>?
    private let marker: OptionalMarker
    let effects: EffectRunner
    private let results: EventQueue<StoreResult>
    private(set) var engine: StoreEngine<State>
    private var counts = StoreActivity()
    private var isServed = false
    /// When the journal last had no room.
    private var lastFull: Instant?

    init(_ recovered: RecoveredStore<State>, on node: NodeServices) {
        definition = recovered.definition
        recovery = recovered.report
        self.node = node
        metrics = PrimaryMetrics(store: definition.name)
        log = StoreLog(definition.name, definition.logger)
        clients = LocalClients(definition.mailbox)
        marker = OptionalMarker(recovered.journal?.crashMarker)
        let results = EventQueue<StoreResult>(wake: node.wake)
        self.results = results
        journal = recovered.journal.map { StoreJournal($0, of: recovered.definition, on: node, results: results) }
        effects = EffectRunner(
            on: node.environment.effectExecutor,
            onCancel: { results.append(.effectCancelled(work: $0)) },
            onFailure: { [metrics] in metrics.effectFailed() }
        ) { [mailbox = recovered.definition.mailbox] in mailbox.enqueue(.action(.result($0))) }
        engine = recovered.engine(on: node, suspects: marker.suspects)
    }

    deinit { end() }

    var name: StoreName { definition.name }
    var position: Position { engine.position }
    var nextDeadline: Instant { read { $0.nextDeadline } }
    var activity: StoreActivity {
        var activity = counts
        activity.commits = journal?.writer.commitTimes ?? RecentTimes()
        return activity
    }
    func nextNumber(of session: SessionID) -> ActionNumber? { read { $0.nextNumber(of: session) } }
    var exceededLimit: String? { read { $0.exceededLimit } }
    var intake: StoreIntake {
        read { engine in
            if engine.wantsFrames { return .open }
            return engine.isBehind(at: node.environment.now) ? .busy : .full
        }
    }
    var hasWork: Bool { read { $0.hasWork(at: node.environment.now) } || clients.hasRequests }

    /// Reads the engine in place: a getter of the property would copy it, for each frame.
    private func read<Result>(_ body: (inout StoreEngine<State>) -> Result) -> Result { body(&engine) }

    // MARK: Events

    func begin() {
        isServed = true
        clients.open(wake: node.wake)
        log.started(at: position, journal?.writer, recovery)
        let effect = definition.initialEffect(engine.state)
        report { $0.begin(initialEffect: effect, into: &$1) }
    }

    func subscribed(to topic: Topic, from sender: FrameSender?) {
        report { $0.subscribed(to: topic, from: sender, into: &$1) }
    }
    func unsubscribed(from topic: Topic) { report { $0.unsubscribed(from: topic, into: &$1) } }
    func received(_ frame: ActionsFrame, from sender: FrameSender?) {
        report { $0.received(frame, from: sender, at: node.environment.now, into: &$1) }
    }

    func turn() {
        dequeueRequests()
        takeTurn()
    }

    private func dequeueRequests() { clients.dequeueAll().forEach { engine.requested($0) } }

    /// Processes what waits; measured if it makes a record.
    private func takeTurn() {
        let began = node.environment.now
        handleResults()
        let (now, time, last) = (node.environment.now, node.environment.time, read { $0.lastSequence })
        var directives: [StoreDirective] = []
        engine.turn(at: now, time: time, node.turnBudget, marking: marker, into: &directives)
        let reduced = read { $0.lastSequence } > last ? node.environment.now : nil
        perform(directives)
        guard let reduced else { return }
        metrics.turned(in: began.duration(to: node.environment.now), reducedIn: now.duration(to: reduced))
    }

    func tick() {
        guard node.environment.now >= engine.nextDeadline else { return }
        // Detects a replaced journal even if no actions arrive: another primary may use the path.
        do throws(JournalFailure) { try journal?.writer.checkPlace() } catch { handle(.journaled(.failure(error))) }
        report { $0.tick(at: node.environment.now, time: node.environment.time, into: &$1) }
    }

    func sample() -> StoreHealth {
        var gauges = journal?.writer.measure() ?? [:]
        read { engine in
            gauges[.primarySessions] = Double(engine.sessionCount)
            gauges[.primaryStateBytes] = Double(engine.published.summary.bytes)
            gauges[.primaryHeldBytes] = Double(engine.heldBytes)
            gauges[.primaryJoinsWaiting] = Double(engine.joinsWaiting)
            // A commit shows that there is room again, and may never come: senders may wait for this.
            let isRecent = lastFull.map { $0.duration(to: node.environment.now) < .seconds(30) } ?? false
            gauges[.primaryStorageFull] = engine.isDiskFull && isRecent ? 1 : 0
        }
        gauges[.primaryEffectsRunning] = Double(effects.runningCount)
        var health = StoreHealth(store: name, position: position, gauges: gauges)
        health.durability = journal?.writer.durability
        return health
    }

    func finish() {
        journal?.writer.prepareToStop()
        engine.finish()
        // First what is in flight: its middlewares may have dispatched actions.
        drainJournal()
        // Once: other threads may go on to dispatch.
        dequeueRequests()
        repeat {
            repeat { takeTurn() } while engine.hasLocalWork(at: node.environment.now)
            drainJournal()
        } while engine.hasLocalWork(at: node.environment.now) && !engine.isDiskFull
    }

    private func drainJournal() {
        journal?.writer.drain()
        handleResults()
    }

    func renewLease() { journal?.writer.renew() }
    func resign(to heir: NodeID?) throws(JournalFailure) { try journal?.writer.resign(to: heir) }
    func abandon(because failure: JournalFailure) { journal?.writer.abandon(because: failure) }

    func end() {
        guard isServed else { return }
        isServed = false
        effects.cancelAll()
        report { $0.end(into: &$1) }
        log.stopped(at: position)
        journal?.writer.close()
    }

    /// Processes what other threads have reported, and what their directives report in turn: an effect that a published
    /// batch cancels must not send its waiting actions in the next turn.
    func handleResults() {
        while case let next = results.dequeueAll(), !next.isEmpty { next.forEach(handle) }
    }

    private func handle(_ result: StoreResult) {
        switch result {
        case .journaled(.success(let sequence)): report { $0.stored(through: sequence, into: &$1) }
        case .journaled(.failure(let failure)) where failure.code == .storageFull:
            lastFull = node.environment.now
            report { $0.journalIsFull("\(failure)", at: node.environment.now, into: &$1) }
        case .journaled(.failure(let failure)): fail(failure)
        case .encoded(let snapshot):
            if !snapshot.isAsPublished { log.stateDiffers(at: snapshot.revision) }
            let (bytes, revision, digest) = (snapshot.bytes, snapshot.revision, snapshot.digest)
            report {
                $0.snapshotEncoded(bytes, revision: revision, digest: digest, at: node.environment.now, into: &$1)
            }
        case .snapshotStored(let isStored): engine.snapshotStored(isStored: isStored)
        case .effectCancelled(let work): engine.cancelled(work: work)
        }
    }

    // MARK: Directives

    /// Passes an event to the engine and performs its directives, which do not call the engine.
    private func report(_ event: (inout StoreEngine<State>, inout [StoreDirective]) -> Void) {
        var directives: [StoreDirective] = []
        event(&engine, &directives)
        perform(directives)
    }

    private func perform(_ directives: [StoreDirective]) { for directive in directives { perform(directive) } }

    private func perform(_ directive: StoreDirective) {
        switch directive {
        case .publish(let topic, let frame):
            node.publish(definition.name, Message.encode(frame, to: Address(definition.name, topic)))
        case .commit(let record):
            journal?.commit(record)
        case .encodeSnapshot:
            node.environment.startInBackground { [results, published = engine.published] in
                results.append(.encoded(EncodedSnapshot(of: published)))
            }
        case .storeSnapshot(let snapshot): journal?.store(snapshot)
        case .show(let version): clients.show(Version.typed(version).state, version.revision)
        case .addObserver(let id, let replay): clients.addObserver(id, replay)
        case .removeObserver(let id): clients.removeObserver(id)
        case .answer(let id, let outcome): clients.answer(id, outcome)
        case .start(let effect, let key): effects.start(effect, key: key)
        case .dispatch(let actions): clients.dispatch(actions)
        case .clearSuspect(let session, let number):
            marker.clear(session, number)
            journal?.writer.removeCrashes(of: session, number)
        case .resumeJournal: journal?.writer.resume()
        case .returnRequests(let requests): clients.close(returning: requests)
        case .count(let event):
            metrics.count(event)
            counts.count(event)
        case .log(let notice): log.log(notice)
        }
    }

    private func fail(_ failure: JournalFailure) { node.fail(StatecastError(.journal, "\(failure)", cause: failure)) }
}
