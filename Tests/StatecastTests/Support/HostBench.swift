import Logging
import StateCore
import SyncProtocol
import Testing

@testable import Statecast

/// A store without a node: the test controls its turns, and when records become durable.
final class HostBench<State: Codable & Equatable & Sendable> {
    let definition: TypedStore<State>
    private(set) var host: StoreHost<State>!
    /// The published frames, in order: `update 3`, `receipts`, and the events that a test adds.
    let events = EventLog()
    /// The updates published so far.
    private(set) var updates: [Update] = []
    /// The snapshots that were encoded.
    private(set) var snapshots: [EncodedSnapshot] = []
    /// The receipts published so far, by number.
    private(set) var receipts: [UInt64: Outcome] = [:]
    /// The records that are not durable yet.
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
        let runtime = StoreRuntime(
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
        host = StoreHost(recovered, in: runtime)
    }

    var mailbox: LocalMailbox<State> { definition.mailbox }

    private func published(_ frame: Frame) {
        switch frame {
        case .update(let update):
            events.add("update \(update.to)")
            updates.append(update)
        case .receipts(let frame):
            events.add("receipts")
            for run in frame.outcomes.runs {
                for number in run.first.rawValue..<run.end.rawValue {
                    receipts[number] = run.outcome(of: ActionNumber(number))
                }
            }
        default: break
        }
    }

    /// Delivers a frame of a sender, with its next numbers.
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

    /// Runs turns while requests are left.
    func runTurns() {
        repeat { turn() } while host.hasRequests
    }

    /// Makes the records durable.
    func commit() {
        guard let last = records.last else { return }
        records = []
        host.committed(through: last.sequence)
    }

    /// Returns once a request has arrived in the empty mailbox.
    func woken() async {
        for await _ in wakes { return }
    }

    /// Runs turns, and waits for requests in between, until a condition holds.
    func turns(until condition: () -> Bool) async {
        runTurns()
        while !condition() {
            await woken()
            runTurns()
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
