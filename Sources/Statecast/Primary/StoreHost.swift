internal import DequeModule
internal import Journal
internal import Logging
internal import StateCoding
internal import SyncProtocol

/// One store on its node: the typed state, its reducer, and the machine that decides.
///
/// This file takes events in and performs what the machine says; how a turn reduces, how it closes its batch, and
/// what happens once that is durable, stand in files of their own.
final class StoreHost<State: Codable & Equatable & Sendable>: HostedStore {
    var machine: PrimaryMachine
    let definition: TypedStore<State>
    let surroundings: StoreSurroundings
    let metrics: PrimaryMetrics
    let journalMetrics: JournalMetrics
    /// `nil` for a store that forgets.
    let journal: JournalWriter?
    let reductions: CrashMarker?
    let effects: EffectRunner

    /// With all actions reduced.
    var state: State
    /// Behind the last record handed out: what the next patch starts from.
    var closed: State
    /// Digest and size of `closed`.
    var summary: Summary
    /// At the head: what replicas have.
    var published: State
    /// Digest and size of `published`.
    var publishedSummary: Summary
    /// The open batch.
    var batch: [BatchedAction] = []
    /// What became of its actions, in the order in which they were taken.
    var settled: [SettledAction] = []
    var followUps: [FollowUp] = []
    /// What the effects among them cancel.
    var cancelled: Set<AnyID> = []
    /// What its middlewares dispatched; nil if none was passed.
    var held: HeldDispatcher?
    /// Who asked to observe since the last batch was closed.
    var joining: [(observer: Listener<Change<State>>, replay: Bool)] = []
    /// Batches whose records are not durable yet, in order.
    var underway: Deque<ClosedBatch<State>> = []
    /// What the primary's own process asked for and has to wait.
    var waiting: Deque<LocalRequest<State>> = []
    var audience = Audience<State>()
    /// Since when there is no room in the journal, and until when actions are refused for that.
    var fullUntil: Instant?
    var snapshots = SnapshotSchedule()
    private let report: RecoveryReport?
    /// Whether it is served.
    private var isServed = false

    init(_ recovered: RecoveredStore<State>, in surroundings: StoreSurroundings) {
        let definition = recovered.definition
        machine = PrimaryMachine(
            store: definition.name,
            history: recovered.history,
            fingerprint: definition.fingerprint,
            actions: definition.registry.entries,
            actionsEndpoint: surroundings.actionsEndpoint,
            readsPast: recovered.journal != nil,
            durability: recovered.journal?.durability.rawValue,
            limits: surroundings.limits,
            now: surroundings.clock.now
        )
        metrics = PrimaryMetrics(store: definition.name)
        let journalMetrics = JournalMetrics(store: definition.name)
        self.journalMetrics = journalMetrics
        journal = recovered.journal.map { journal in
            JournalWriter(journal, metrics: journalMetrics, retryDelay: surroundings.limits.retryDelayMin) {
                [name = definition.name, onLoop = surroundings.onLoop] outcome in
                onLoop(name) { $0.journaled(outcome) }
            }
        }
        reductions = recovered.journal?.reductions
        effects = EffectRunner { [entrance = definition.entrance] in entrance.enter(.action(.result($0))) }
        state = recovered.state
        closed = state
        summary = recovered.history.summary
        snapshots = recovered.snapshots
        report = recovered.report
        published = state
        publishedSummary = summary
        self.definition = definition
        self.surroundings = surroundings
    }

    deinit { end() }

    var name: StoreName { machine.store }
    var head: Revision { machine.head }
    var position: Position { Position(lineage: machine.lineage, epoch: machine.epoch, revision: machine.head) }
    var nextDeadline: Instant { machine.nextDeadline }
    var hasRequests: Bool { machine.hasRequests || hasLocalRequests }
    var logger: Logger { definition.logger }

    // MARK: Life

    func begin() {
        isServed = true
        audience = definition.entrance.open(wake: surroundings.wake)
        show(at: machine.head)
        let key = IdempotencyKey(
            lineage: machine.lineage.description,
            revision: machine.head.rawValue,
            index: 0,
            start: machine.epoch.rawValue
        )
        noteStart()
        effects.start(definition.initialEffect(published), key: key)
        storeSnapshotIfDue()
    }

    /// Says for operators from what the store starts.
    private func noteStart() {
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
        gather()
        repeat {
            while canTake {
                takeWaiting()
                closeBatch()
            }
            settleJournal()
        } while canTake
    }

    func end() {
        guard isServed else { return }
        isServed = false
        effects.cancelAll()
        for followUp in underway.flatMap(\.followUps) + followUps { leaveUnknown(followUp) }
        let observers = (underway.flatMap(\.joining) + joining).map {
            LocalRequest.observe($0.observer, replay: $0.replay)
        }
        definition.entrance.close(keeping: audience, leaving: observers + waiting)
        (underway, followUps, joining, waiting, audience) = ([], [], [], [], Audience())
        storeSnapshotOfStop()
        logger.notice(
            "stopped",
            metadata: ["store": "\(name)", "epoch": "\(machine.epoch)", "revision": "\(machine.head)"]
        )
        if let lost = journal?.close() {
            logger.critical(
                "records lost that were published already: \(lost.count): \(lost.failure)",
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
        if let admitted { take(admitted) }
    }

    func putOff(_ frame: ActionsFrame) {
        let reason = Rejection(
            .overloaded,
            "actions come faster than the journal of this store takes them; they wait until it has caught up"
        )
        let retryAfter = surroundings.limits.retryDelayMin
        perform(machine.refuse(frame.identity, of: frame.session, reason, retryAfter: retryAfter))
    }

    func endTurn() {
        takeLocalRequests()
        closeBatch()
        if machine.hasRequests {
            perform(machine.serve(at: surroundings.clock.now, time: surroundings.clock.time))
        }
        metrics.waiting(joins: machine.joinsWaitingCount)
    }

    func tick() {
        // A primary without actions is not to serve beside another one in the same place.
        do throws(JournalFailure) { try journal?.checkPlace() } catch { journaled(.failure(error)) }
        perform(machine.tick(at: surroundings.clock.now, time: surroundings.clock.time))
    }

    func snapshotEncoded(_ snapshot: EncodedSnapshot) {
        switch snapshot.bytes {
        case .success(let bytes):
            if !snapshot.isAsPublished {
                logger.error(
                    "the state differs from what was published: a part of it changed while its == said that it had not; verifyState of StatecastTesting names it",
                    metadata: ["store": "\(name)", "revision": "\(snapshot.revision)"]
                )
            }
            machine.snapshotEncoded(
                bytes,
                revision: snapshot.revision,
                digest: snapshot.digest,
                at: surroundings.clock.now
            )
        case .failure(let failure):
            // Every change was encoded before, so only a type that encodes differently by itself gets here.
            logger.critical("the state cannot be encoded for joining replicas", metadata: ["error": "\(failure)"])
            perform(machine.snapshotFailed(Rejection(.unencodable, "the state cannot be encoded: \(failure)")))
        }
    }

    // MARK: Directives

    func perform(_ directives: [PrimaryDirective]) {
        for directive in directives {
            switch directive {
            case .publish(let topic, let frame): surroundings.publish(name, topic, frame)
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
        surroundings.encode(name) {
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
