import Logging
import StatecastCore
import StatecastProtocol
import Testing

@testable import Statecast

/// A store without a node: the test controls its turns, and when records become durable.
final class StoreBench<State: Codable & Equatable & Sendable> {
    let definition: TypedStore<State>
    private(set) var store: StoreShell<State>!
    /// The published frames, in order: `update 3`, `receipts`, and the events that a test adds.
    let events = EventLog()
    /// The updates published so far.
    private(set) var updates: [Update] = []
    /// The receipts published so far, by number.
    private(set) var receipts: [UInt64: Outcome] = [:]
    /// The welcomes with a snapshot that were published so far.
    private(set) var offers: [Welcome.Offer] = []
    /// Its appends are blocked until a commit; `nil` if records become durable at once.
    private let journal: FaultyJournal?
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
        journal = isDurableAtOnce ? nil : FaultyJournal()
        definition = try TypedStore(
            name: "bench",
            state: state,
            actions: actions,
            reducer: reducer,
            middleware: middleware,
            initialEffect: initialEffect,
            journal: journal,
            evolution: StateEvolution(),
            logger: Logger(label: "bench")
        )
        let (wakes, wake) = AsyncStream.makeStream(of: Void.self)
        self.wakes = wakes
        let services = NodeServices(
            limits: limits,
            actionsEndpoint: "tcp://*:1",
            environment: ThreadedEnvironment(clock: NodeClock()),
            journalPolicy: JournalPolicy(),
            publish: { [unowned self] _, message in published(message) },
            fail: { Issue.record($0) },
            wake: { wake.yield() }
        )
        let time = Timestamp(milliseconds: 0)
        guard
            let recovered = try definition.recover(limits: limits, time: time, lineage: Lineage(bits: 1))
                as? RecoveredStore<State>
        else { preconditionFailure("a typed store recovers another type") }
        journal?.hold(true)
        store = StoreShell(recovered, on: services)
    }

    deinit { journal?.hold(false) }

    var mailbox: LocalMailbox<State> { definition.mailbox }

    private func published(_ message: [UInt8]) {
        guard let (_, body) = Message.split(message), let frame = try? Frame(decoding: body) else {
            Issue.record("published: \(message)")
            return
        }
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
        case .welcome(let welcome): if let offer = welcome.offer { offers.append(offer) }
        default: break
        }
    }

    /// Delivers a frame of a sender, with its next numbers.
    func push<A: Action>(_ actions: A..., session: SessionID = StoreBench.session) throws {
        let bytes = try actions.map { try ActionTable.encode($0) }
        store.received(
            ActionsFrame(
                lineage: store.position.lineage,
                session: session,
                opened: JournalSequence(0),
                base: ActionNumber(1),
                first: ActionNumber(sent + 1),
                actions: bytes
            ),
            from: nil
        )
        sent += UInt64(bytes.count)
    }

    func turn() { store.turn() }

    /// Runs turns while requests are left.
    func runTurns() {
        repeat { turn() } while store.hasWork
    }

    /// Makes the records durable. The next turn handles the results, as on a node.
    func storeRecords() {
        journal?.hold(false)
        store.journal?.writer.drain()
        journal?.hold(true)
    }

    /// Makes the records durable, and handles the results.
    func commit() {
        storeRecords()
        store.handleResults()
    }

    /// From now on, records become durable at once.
    func freeJournal() { journal?.hold(false) }

    /// Makes the journal fail, without the store knowing it.
    func loseRecords() {
        journal?.fail(FaultyJournal.full)
        journal?.hold(false)
    }

    /// Returns once the mailbox has a request.
    func woken() async {
        if mailbox.hasRequests { return }
        for await _ in wakes where mailbox.hasRequests { return }
    }

    /// Runs turns, and waits for requests in between, until a condition holds.
    func turns(until condition: () -> Bool) async {
        runTurns()
        while !condition() {
            for await _ in wakes { break }
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

extension StoreBench where State == Diary {
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

    var lines: [String] { store.engine.state.lines }
}
