import Logging
import StateCore
import SyncProtocol
import Testing
import Threading

@testable import Statecast

/// A store without a node: turns are taken, and records become durable, when the test says so.
final class HostBench<State: Codable & Equatable & Sendable> {
    let definition: TypedStore<State>
    private(set) var host: StoreHost<State>!
    /// What came out, in order: `update 3`, `receipts`, and whatever a test adds.
    let events = EventLog()
    /// The updates published so far.
    private(set) var updates: [Update] = []
    /// The snapshots that were ordered.
    private(set) var snapshots: [EncodedSnapshot] = []
    /// The receipts published so far, by number.
    private(set) var receipts: [UInt64: Outcome] = [:]
    /// Records that were handed out and are not durable.
    private(set) var records: [Record] = []
    /// Whether records become durable at once.
    var isDurableAtOnce: Bool
    private let wakes: AsyncStream<Void>
    private var sent: UInt64 = 0

    static var session: SessionID { SessionID(high: 1, low: 2) }

    init(
        _ state: State,
        actions: [any Action.Type],
        reducer: Reducer<State>,
        middleware: [Middleware<State>] = [],
        initialEffect: @escaping @Sendable (State) -> Effect = { _ in .none },
        isDurableAtOnce: Bool = true,
        limits: Limits = .quick
    ) throws {
        self.isDurableAtOnce = isDurableAtOnce
        definition = try TypedStore(
            name: "bench",
            state: state,
            actions: actions,
            reducer: reducer,
            middleware: middleware,
            initialEffect: initialEffect,
            journal: nil,
            evolution: StateEvolution(),
            logger: Logger(label: "bench")
        )
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
        self.wakes = wakes
        let surroundings = StoreSurroundings(
            limits: limits,
            actionsEndpoint: "tcp://*:1",
            clock: NodeClock(),
            publish: { [unowned self] _, _, frame in published(frame) },
            commit: { [unowned self] _, record in
                records.append(record)
                if isDurableAtOnce { commit() }
            },
            onLoop: { _, _ in },
            fail: { _ in },
            journalPolicy: JournalPolicy(),
            encode: { [unowned self] _, work in snapshots.append(work()) },
            wake: { wake.yield() }
        )
        let history = History(lineage: Lineage(bits: 0xA1), epoch: Epoch(3), summary: definition.summary)
        let recovered = RecoveredStore(definition: definition, state: state, history: history, journal: nil)
        host = StoreHost(recovered, in: surroundings)
    }

    var entrance: LocalEntrance<State> { definition.entrance }

    private func published(_ frame: Frame) {
        switch frame {
        case .update(let update):
            events.add("update \(update.to)")
            updates.append(update)
        case .receipts(let frame):
            events.add("receipts")
            for (offset, outcome) in frame.outcomes.enumerated() {
                receipts[frame.first.rawValue + UInt64(offset)] = outcome
            }
        default: break
        }
    }

    /// A frame of a sender, with its next numbers.
    func push<A: Action>(_ actions: A..., session: SessionID = HostBench.session) throws {
        let bytes = try actions.map { try ActionCoding.encode($0) }
        host.received(
            ActionsFrame(
                lineage: Lineage(bits: 0xA1),
                session: session,
                opened: JournalSequence(0),
                base: ActionNumber(1),
                first: ActionNumber(sent + 1),
                actions: bytes
            )
        )
        sent += UInt64(bytes.count)
    }

    func turn() { host.endTurn() }

    /// Takes turns until nothing is left to do at once.
    func settle() {
        repeat { turn() } while host.hasRequests
    }

    /// Makes durable what was handed out.
    func commit() {
        guard let last = records.last else { return }
        records = []
        host.committed(through: last.sequence)
    }

    /// Returns once something came in from the store's own process that the loop did not know of.
    func woken() async {
        for await _ in wakes { return }
    }

    /// Takes turns, and waits for what wakes the loop between them, until a condition holds.
    func turns(until condition: () -> Bool) async {
        settle()
        while !condition() {
            await woken()
            settle()
        }
    }
}

extension Limits {
    static func quick(_ change: (inout Limits) -> Void) -> Limits {
        var limits = quick
        change(&limits)
        return limits
    }
}

extension HostBench where State == Diary {
    convenience init(
        middleware: [Middleware<Diary>] = [],
        initialEffect: @escaping @Sendable (Diary) -> Effect = { _ in .none },
        isDurableAtOnce: Bool = true,
        limits: Limits = .quick,
        effect: @escaping @Sendable (_ line: String, _ diary: Diary) -> Effect
    ) throws {
        try self.init(
            Diary(),
            actions: Diary.actions,
            reducer: Diary.reducer(effect),
            middleware: middleware,
            initialEffect: initialEffect,
            isDurableAtOnce: isDurableAtOnce,
            limits: limits
        )
    }

    var lines: [String] { host.state.lines }
}

/// What happened, in order, wherever it happened.
final class EventLog: Sendable {
    private let log = Locked<[String]>([])

    func add(_ event: String) { log.withLock { $0.append(event) } }

    var events: [String] { log.withLock { $0 } }

    /// Returns once there is such an event; ends with the test's time limit.
    func waits(for event: String) async throws {
        while !events.contains(event) {
            try Task.checkCancellation()
            await Task.yield()
        }
    }
}
