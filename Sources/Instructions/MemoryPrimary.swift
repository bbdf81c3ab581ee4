import Statecast
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol

/// A primary without sockets and threads. Its journal stores each record at once, and forgets it.
struct MemoryPrimary<State: Codable & Equatable & Sendable> {
    static var time: Timestamp { Timestamp(milliseconds: 1_700_000_000_000) }

    private let store: StoreName
    private let router: FrameRouter
    private let marker: OptionalMarker
    private let metrics: PrimaryMetrics
    private let journalMetrics: JournalMetrics
    private var engine: StoreEngine<State>
    private var stored: JournalSequence?
    private var messages: [[UInt8]] = []
    /// The state that local observers see.
    private(set) var state: State

    init<Workload: Load>(_ store: StoreName, _ load: Workload.Type, hasJournal: Bool) throws
    where Workload.State == State {
        self.store = store
        router = FrameRouter(stores: [store])
        (metrics, journalMetrics) = (PrimaryMetrics(store: store), JournalMetrics(store: store))
        marker = OptionalMarker(hasJournal ? CrashMarker() : nil)
        state = Workload.state
        let summary = try Summary(ofEncoded: try StateEncoder().encode(state))
        engine = StoreEngine(
            StoreProgram(
                try ActionTable([Workload.Input.self]),
                reducer: Workload.reducer,
                middleware: [],
                dispatcher: NoDispatcher()
            ),
            StoreSettings(
                limits: Limits(),
                migrations: 0,
                actionsEndpoint: "tcp://*:7101",
                durability: hasJournal ? "full" : nil,
                snapshots: SnapshotPolicy(bytes: .max, records: .max)
            ),
            history: History(lineage: Lineage(bits: 1), epoch: Epoch(1), summary: summary),
            state: state,
            now: .origin
        )
        report { $0.begin(initialEffect: .none, into: &$1) }
    }

    /// - Returns: the published messages.
    mutating func subscribe(to topic: Topic) -> [[UInt8]] {
        report { $0.subscribed(to: topic, from: nil, into: &$1) }
        return turns()
    }

    /// Receives a message of a sender.
    ///
    /// - Returns: the published messages.
    mutating func receive(_ message: [UInt8]) -> [[UInt8]] {
        guard case .store(_, let frame) = router.actions(message) else {
            preconditionFailure("a sender made a message without actions")
        }
        report { $0.received(frame, from: nil, at: .origin, into: &$1) }
        return turns()
    }

    private mutating func turns() -> [[UInt8]] {
        let marker = marker
        repeat {
            let last = engine.lastSequence
            report { $0.turn(at: .origin, time: Self.time, marking: marker, into: &$1) }
            if engine.lastSequence > last { metrics.turned(in: .zero, reducedIn: .zero) }
        } while engine.hasWork(at: .origin)
        return exchange(&messages, with: [])
    }

    private mutating func report(_ event: (inout StoreEngine<State>, inout [StoreDirective]) -> Void) {
        var directives: [StoreDirective] = []
        event(&engine, &directives)
        for directive in directives { perform(directive) }
        if let sequence = stored.take() { report { $0.stored(through: sequence, into: &$1) } }
    }

    private mutating func perform(_ directive: StoreDirective) {
        switch directive {
        case .publish(let topic, let frame): messages.append(Message.encode(frame, to: Address(store, topic)))
        case .commit(let record):
            let stored = JournalRecord(sequence: record.sequence, from: record.from, to: record.to, body: record.body)
            journalMetrics.committed([stored], bytes: record.body.count, in: .zero)
            self.stored = record.sequence
        case .encodeSnapshot:
            let version = engine.published
            let bytes = Result { () throws(CodingFailure) in try StateEncoder().encode(version.state) }
            let digest = version.summary.digest
            report { $0.snapshotEncoded(bytes, revision: version.revision, digest: digest, at: .origin, into: &$1) }
        case .storeSnapshot: engine.snapshotStored(isStored: true)
        case .show(let version): state = Version.typed(version).state
        case .count(let event): metrics.count(event)
        // The actions have no effects.
        case .start: break
        case .log(let notice): preconditionFailure("unexpected: \(notice)")
        case .addObserver, .removeObserver, .answer, .dispatch, .clearSuspect, .resumeJournal, .returnRequests:
            preconditionFailure("unexpected: \(directive)")
        }
    }
}

/// For middlewares, of which there are none.
private struct NoDispatcher: ActionDispatcher {
    func dispatch(_ action: any Action) { preconditionFailure("unexpected: \(action)") }
}
