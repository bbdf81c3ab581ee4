import StatecastCoding
import StatecastCore
import Synchronization
import Testing

@testable import StatecastProtocol

/// An engine with a minimal shell. The test decides when a turn is taken, which records the journal stores, when a
/// snapshot is encoded, and what a read of the past finds.
///
/// It checks what holds for each engine: an action of the primary's own process has one answer, the updates chain,
/// and nothing is published or shown before its record is stored.
struct EngineBench<State: Codable & Equatable & Sendable> {
    typealias Engine = StoreEngine<State>

    private(set) var engine: Engine
    let limits: Limits
    let hasJournal: Bool
    /// The marks around decoding and reduction.
    let marks = RecordedMarks()
    var now = Instant.origin
    var budget = TurnBudget()
    /// Whether the requests of the primary's own process stay in the mailbox.
    var holdsRequests = false

    /// The records that are passed to the journal and not stored yet.
    private(set) var records: [EncodedRecord] = []
    /// The states to encode for joiners.
    private(set) var encodings: [(state: State, revision: Revision, digest: UInt64)] = []
    private(set) var log = EngineLog<State>()

    /// Requests of the primary's own process, and cancelled effects: the engine gets them at its next turn.
    private var mailbox: [LocalRequest] = []
    private var cancelledWork: [UInt64] = []
    /// The work of effects.
    private(set) var runs: [EffectWork] = []
    private var runCount: UInt64 = 0
    /// The history from which it started.
    private let start: History
    private var storedRevision: Revision
    private var storedSequence: JournalSequence
    private var isResumed = false

    init(
        _ program: StoreProgram<State>,
        history: History,
        state: State,
        limits: Limits = Limits(),
        hasJournal: Bool = true,
        suspects: [Suspect] = [],
        snapshots: SnapshotPolicy = SnapshotPolicy(bytes: .max, records: .max),
        now: Instant = .origin
    ) {
        self.limits = limits
        self.hasJournal = hasJournal
        self.now = now
        start = history
        (storedRevision, storedSequence) = (history.head, history.sequence)
        log.head = history.head
        engine = Engine(
            program,
            StoreSettings(
                limits: limits,
                migrations: 99,
                actionsEndpoint: Fixture.endpoint,
                durability: hasJournal ? "full" : nil,
                snapshots: snapshots
            ),
            history: history,
            state: state,
            suspects: suspects,
            now: now
        )
    }

    /// The last published revision.
    var head: Revision { engine.position.revision }
    /// The last reduced revision.
    var reduced: Revision { records.last?.to ?? head }
    var hasWork: Bool {
        engine.hasWork(at: now) || (!holdsRequests && !mailbox.isEmpty) || !cancelledWork.isEmpty
    }

    // MARK: Events

    /// A frame arrives, and waits in the inbox.
    @discardableResult
    mutating func receive(_ frame: ActionsFrame, from sender: FrameSender? = nil) -> [Answer] {
        let now = now
        return send { $0.received(frame, from: sender, at: now, into: &$1) }
    }

    mutating func subscribed(to topic: Topic, from sender: FrameSender? = nil) -> [Answer] {
        send { $0.subscribed(to: topic, from: sender, into: &$1) }
    }

    mutating func unsubscribed(from topic: Topic) -> [Answer] { send { $0.unsubscribed(from: topic, into: &$1) } }

    /// The primary's own process makes a request, which reaches the engine with its next turn.
    mutating func request(_ request: LocalRequest) { mailbox.append(request) }

    /// Takes a turn.
    @discardableResult
    mutating func turn(_ budget: TurnBudget? = nil) -> [Answer] {
        for work in cancelledWork { engine.cancelled(work: work) }
        cancelledWork = []
        if !holdsRequests {
            for request in mailbox { deliver(request) }
            mailbox = []
        }
        let (now, marks, budget) = (now, marks, budget ?? self.budget)
        return send { $0.turn(at: now, time: Fixture.time, budget, marking: marks, into: &$1) }
    }

    /// Takes turns until there is no work.
    @discardableResult
    mutating func turns() -> [Answer] {
        var answers = turn()
        while hasWork { answers += turn() }
        return answers
    }

    /// Passes a request to the engine, unless its effect was cancelled before.
    private mutating func deliver(_ request: LocalRequest) {
        guard case .action(let action) = request, case .effect(let run, _) = action.origin, let id = action.id,
            log.cancelled[run] != nil
        else { return engine.requested(request) }
        log.answers[id] = .rejected(Rejection(.stopped, "the effect was cancelled"))
    }

    mutating func tick(at now: Instant) -> [Answer] { send { $0.tick(at: now, time: Fixture.time, into: &$1) } }

    /// The journal stores the first `count` records.
    @discardableResult
    mutating func commit(_ count: Int = .max) -> [Answer] {
        guard let last = records.prefix(count).last else { return [] }
        (storedRevision, storedSequence) = (last.to, last.sequence)
        log.stored += records.prefix(count)
        records.removeFirst(min(count, records.count))
        return send { $0.stored(through: last.sequence, into: &$1) }
    }

    /// The journal reports again which records it has stored.
    mutating func reportStored() {
        let sequence = storedSequence
        _ = send { $0.stored(through: sequence, into: &$1) }
    }

    /// The journal has no room for its records.
    @discardableResult
    mutating func fill(_ message: String = "no room") -> [Answer] {
        let now = now
        isResumed = false
        let answers = send { $0.journalIsFull(message, at: now, into: &$1) }
        #expect(isResumed, "the journal accepts records again once the engine rolled back")
        records = []
        return answers
    }

    /// The state of a revision is encoded.
    mutating func snapshotEncoded(_ bytes: [UInt8], at revision: UInt64, digest: UInt64? = nil) {
        let now = now
        _ = send {
            $0.snapshotEncoded(
                .success(bytes),
                revision: Revision(revision),
                digest: digest ?? revision,
                at: now,
                into: &$1
            )
        }
    }

    /// Encodes the next state that joiners wait for.
    mutating func encodeNext() throws {
        guard !encodings.isEmpty else { return }
        let (state, revision, digest) = encodings.removeFirst()
        snapshotEncoded(try StateEncoder().encode(state), at: revision.rawValue, digest: digest)
    }

    mutating func finish() { engine.finish() }

    /// A snapshot that was started is stored, or could not be.
    mutating func snapshotStored(_ isStored: Bool) { engine.snapshotStored(isStored: isStored) }

    /// Ends the service of the store.
    mutating func end() { _ = send { $0.end(into: &$1) } }

    /// The work of an effect sends an action.
    mutating func send(_ action: any Action, id: LocalID? = nil, from work: EffectWork) {
        request(.action(LocalAction(action, id: id, origin: .effect(work: work.run, work.id))))
    }

    /// The work of an effect was cancelled.
    mutating func cancelled(work: UInt64) { engine.cancelled(work: work) }

    /// The sessions and the summary, as the snapshot of a stop has them.
    var context: SnapshotContext? {
        var (copy, directives) = (engine, Engine.Directives())
        copy.end(into: &directives)
        for case .storeSnapshot(let snapshot) in directives { return snapshot.context }
        return nil
    }

    /// What the stored records lead to.
    func recovered() throws -> History {
        var history = start
        for record in log.stored { try history.replay(record.record, at: record.sequence, limits: limits) }
        return history
    }

    // MARK: Directives

    private mutating func send(_ event: (inout Engine, inout Engine.Directives) -> Void) -> [Answer] {
        var directives: Engine.Directives = []
        event(&engine, &directives)
        return directives.compactMap { perform($0) }
    }

    private mutating func perform(_ directive: StoreDirective) -> Answer? {
        switch directive {
        case .publish(let topic, let frame):
            log.published(frame, on: topic)
            if case .update(let update) = frame, topic == .feed {
                #expect(!hasJournal || update.to <= storedRevision, "published before it is stored")
            }
            return .publish(topic, frame)
        case .commit(let record):
            #expect(hasJournal, "a store without a journal makes no records")
            #expect(record.sequence == (records.last?.sequence ?? storedSequence).next, "the records have to chain")
            #expect(record.from == records.last?.to ?? storedRevision, "the records have to chain")
            records.append(record)
            log.records.append(record)
        case .encodeSnapshot:
            let published = engine.published
            encodings.append((published.state, published.revision, published.summary.digest))
            return .encodeSnapshot
        case .count(.reduced): break
        case .count(.published(let counts, _)): log.counts.append(counts)
        case .count(let event): return .count(event)
        case .show(let version):
            #expect(!hasJournal || version.revision <= storedRevision, "shown before it is stored")
            log.shown.append((Version.typed(version).state, version.revision))
        case .addObserver(let observer, _): log.added.append((observer, log.head))
        case .removeObserver(let observer): log.removed.append(observer)
        case .answer(let id, let outcome):
            #expect(log.answers.updateValue(outcome, forKey: id) == nil, "\(id) has two answers")
        case .start(let effect, let key):
            log.started.append(key.revision)
            start(effect, at: Revision(key.revision))
        case .dispatch(let actions):
            log.dispatched += actions.count
            for action in actions { request(.action(LocalAction(action, origin: .dispatched))) }
        case .clearSuspect(let session, let number): log.cleared.append(SentAction(session: session, number: number))
        case .resumeJournal: isResumed = true
        case .returnRequests(let requests): log.returned += requests
        case .storeSnapshot(let snapshot): log.snapshots.append(snapshot)
        case .log(let notice): log.notices.append(notice)
        }
        return nil
    }

    private mutating func start(_ effect: Effect, at revision: Revision) {
        switch effect.operation {
        case nil: break
        case .dispatch(let action): request(.action(LocalAction(action, origin: .effect(work: 0, nil))))
        case .run(let work):
            runCount += 1
            runs.append(EffectWork(run: runCount, id: work.id))
        case .cancel(let id):
            for work in runs where work.id == id {
                cancelledWork.append(work.run)
                log.cancelled[work.run] = revision
            }
            runs.removeAll { $0.id == id }
        case .merge(let parts), .sequence(let parts): for part in parts { start(part, at: revision) }
        }
    }
}

/// The running work of an effect.
struct EffectWork: Hashable {
    let run: UInt64
    let id: AnyID?
}

/// What an engine has published and reported.
struct EngineLog<State: Sendable> {
    fileprivate(set) var head = Revision(0)
    /// The published outcomes of each session.
    private(set) var receipts: [SessionID: [UInt64: Outcome]] = [:]
    fileprivate(set) var updates: [Update] = []
    /// All records, in the order in which they were passed to the journal.
    fileprivate(set) var records: [EncodedRecord] = []
    /// The records that the journal has stored.
    fileprivate(set) var stored: [EncodedRecord] = []
    fileprivate(set) var answers: [LocalID: LocalOutcome] = [:]
    fileprivate(set) var shown: [(state: State, revision: Revision)] = []
    /// The observers that were added, each with the revision that was published last.
    fileprivate(set) var added: [(observer: ObserverID, head: Revision)] = []
    fileprivate(set) var removed: [ObserverID] = []
    /// The revisions whose effects were started.
    fileprivate(set) var started: [UInt64] = []
    /// The cancelled work, with the revision of the action that cancelled it.
    fileprivate(set) var cancelled: [UInt64: Revision] = [:]
    fileprivate(set) var dispatched = 0
    fileprivate(set) var cleared: [SentAction] = []
    fileprivate(set) var returned: [LocalRequest] = []
    fileprivate(set) var snapshots: [SnapshotToStore] = []
    fileprivate(set) var notices: [StoreNotice] = []
    fileprivate(set) var counts: [OutcomeCounts] = []

    fileprivate mutating func published(_ frame: Frame, on topic: Topic) {
        if case .update(let update) = frame, topic == .feed {
            #expect(update.from == head, "the updates have to chain")
            head = update.to
            updates.append(update)
        }
        guard case .receipts(let session) = topic, case .receipts(let receipts) = frame else { return }
        for (offset, outcome) in receipts.outcomes.list.enumerated() {
            let number = receipts.outcomes.start.rawValue + UInt64(offset)
            let old = self.receipts[session, default: [:]].updateValue(outcome, forKey: number)
            #expect(old.map { $0.isSame(as: outcome) } ?? true, "number \(number) has two outcomes")
        }
    }
}

extension Outcome {
    /// The code of a rejection.
    var code: Rejection.Code? { if case .rejected(let rejection) = self { rejection.code } else { nil } }

    /// Whether it is the same outcome, whose message may have been dropped.
    func isSame(as other: Outcome) -> Bool {
        if case .rejected(let rejection) = self, case .rejected(let again) = other {
            return rejection.code == again.code && (again.message.isEmpty || again == rejection)
        }
        return self == other
    }
}

/// What the shell sends, and what the engine asks of it.
enum Answer: Hashable {
    case publish(Topic, Frame)
    case encodeSnapshot
    case count(StoreEvent)
}

/// Records which action is marked, and what happens meanwhile.
final class RecordedMarks: ReductionMarking, Sendable {
    enum Mark: Hashable {
        case began(SessionID, UInt64)
        case ended
        /// An action was decoded.
        case decoded(UInt64)
        /// The reducer got an action.
        case reduced(UInt64)
        /// A state was encoded.
        case encoded
    }

    /// Where the states and the reducer of this task record what they do.
    @TaskLocal static var observer: RecordedMarks?

    private let recorded = Mutex<[Mark]>([])

    var marks: [Mark] { recorded.withLock { $0 } }

    func record(_ mark: Mark) { recorded.withLock { $0.append(mark) } }
    func begin(_ session: SessionID, _ number: ActionNumber) { record(.began(session, number.rawValue)) }
    func end() { record(.ended) }
}

/// The dispatcher that middlewares keep: it records what reaches it after their batch.
final class KeptDispatcher: ActionDispatcher {
    private let count = Mutex(0)

    var dispatchedCount: Int { count.withLock { $0 } }

    func dispatch(_ action: any Action) { count.withLock { $0 += 1 } }
}

extension [Answer] {
    /// The frames published on a topic.
    func frames(on topic: Topic) -> [Frame] {
        compactMap { directive in
            guard case .publish(topic, let frame) = directive else { return nil }
            return frame
        }
    }

    /// The receipts of a session by number.
    func receipts(of session: SessionID = Fixture.session) -> [UInt64: Outcome] {
        var outcomes: [UInt64: Outcome] = [:]
        for case .receipts(let receipts) in frames(on: .receipts(session)) {
            for (offset, outcome) in receipts.outcomes.list.enumerated() {
                outcomes[receipts.outcomes.start.rawValue + UInt64(offset)] = outcome
            }
        }
        return outcomes
    }

    func watermarks(of session: SessionID = Fixture.session) -> [Watermark] {
        frames(on: .receipts(session)).compactMap { if case .watermark(let watermark) = $0 { watermark } else { nil } }
    }

    func expected(of session: SessionID = Fixture.session) -> [UInt64] {
        frames(on: .receipts(session)).compactMap {
            if case .expected(let expected) = $0 { expected.number.rawValue } else { nil }
        }
    }

    func refusals(on topic: Topic) -> [Refusal] {
        frames(on: topic).compactMap { if case .refusal(let refusal) = $0 { refusal } else { nil } }
    }

    func refusals(of session: SessionID = Fixture.session) -> [Rejection.Code] {
        refusals(on: .receipts(session)).map(\.reason.code)
    }

    func updates(on topic: Topic = .feed) -> [Update] {
        frames(on: topic).compactMap { if case .update(let update) = $0 { update } else { nil } }
    }

    func welcome(on topic: Topic) -> Welcome? {
        guard case .welcome(let welcome)? = frames(on: topic).first else { return nil }
        return welcome
    }

    /// The topics of the published frames, in order.
    var topics: [Topic] { compactMap { if case .publish(let topic, _) = $0 { topic } else { nil } } }

    var snapshotsOrdered: Int { count { $0 == .encodeSnapshot } }

    var heartbeats: [Heartbeat] {
        frames(on: .feed).compactMap { if case .heartbeat(let heartbeat) = $0 { heartbeat } else { nil } }
    }
}
