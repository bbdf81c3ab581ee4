import StatecastCoding
import StatecastCore
import StatecastProtocol
import Testing

/// An action of the script: what is to happen to it.
private struct Step: Action {
    static let name = "step"

    var id: UInt64
    var kind: Kind

    enum Kind: String, Codable, CaseIterable {
        case plain
        /// A middleware rejects it.
        case refused
        /// A middleware rejects it if an even number of actions is applied.
        case picky
        /// A middleware replaces it.
        case changed
        /// A middleware dispatches another action.
        case dispatching
        /// A middleware dispatches another action, and rejects it.
        case noted
        /// Nothing passes it on.
        case swallowed
        /// Two or three such changes exceed an update.
        case large
        /// Its change exceeds an update.
        case tooLarge
        /// The state cannot be encoded after it.
        case breaking
        /// It has an effect.
        case effect
    }
}

/// An action whose name the table does not have.
private struct Unknown: Action { static let name = "unknown" }

/// The applied actions. An entry is never changed again, so that no action undoes what another one exceeds.
private struct Entries: Codable, Equatable {
    private var texts: [String: String] = [:]
    private var isBroken = false
    var count: UInt64 = 0

    private enum CodingKeys: CodingKey { case texts, count }

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        texts = try container.decode([String: String].self, forKey: .texts)
        count = try container.decode(UInt64.self, forKey: .count)
    }

    func encode(to encoder: any Encoder) throws {
        guard !isBroken else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "broken")
            )
        }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(texts, forKey: .texts)
        try container.encode(count, forKey: .count)
    }

    static let maxPatchBytes = 300

    mutating func apply(_ step: Step) {
        count += 1
        let length = [.large: 120, .tooLarge: 400][step.kind] ?? 3
        texts["\(step.id)"] = String(repeating: "x", count: length)
        if step.kind == .breaking { isBroken = true }
    }

    func contains(_ id: UInt64) -> Bool { texts["\(id)"] != nil }
}

/// One engine that runs a script.
private struct Run {
    private(set) var bench: EngineBench<Entries>
    /// The actions that each session has sent so far.
    private(set) var sent: [[[UInt8]]] = Array(repeating: [], count: Run.sessions.count)
    private(set) var awaited: UInt64 = 0

    static let sessions = (1...3).map { SessionID(high: 5, low: $0) }

    init(hasJournal: Bool, suspects: [Suspect]) throws {
        let state = Entries()
        bench = EngineBench(
            StoreProgram(
                try ActionTable([Step.self]),
                reducer: Reducer(of: Step.self) { state, step -> Effect in
                    state.apply(step)
                    return step.kind == .effect ? .run { _ in } : .none
                },
                middleware: [Self.middleware],
                dispatcher: KeptDispatcher()
            ),
            history: try Fixture.history(of: state),
            state: state,
            limits: .with {
                $0.maxFrameBytes += Entries.maxPatchBytes - $0.maxPatchBytes
                // Reduced one by one, each action is a record.
                $0.maxUncommittedRecords = .max
            },
            hasJournal: hasJournal,
            suspects: suspects
        )
    }

    private static let middleware = Middleware<Entries> { action, store, next in
        guard let step = action as? Step else { return try next(action) }
        switch step.kind {
        case .refused: throw Rejection(.refused, "number \(step.id)")
        case .picky where store.state.count.isMultiple(of: 2): throw Rejection(.picky, "\(store.state.count)")
        case .changed: return try next(Step(id: step.id + 1_000_000, kind: .changed))
        case .dispatching:
            store.dispatch(Step(id: step.id + 2_000_000, kind: .plain))
            return try next(step)
        case .noted:
            store.dispatch(Step(id: step.id + 3_000_000, kind: .plain))
            throw Rejection(.noted, "\(step.id)")
        case .swallowed: return nil
        default: return try next(step)
        }
    }

    /// - Parameter budget: the budget of each turn.
    mutating func perform(_ event: Event, _ budget: () -> TurnBudget) {
        switch event {
        case .frame(let session, let repeated, let actions):
            let first = max(0, sent[session].count - repeated)
            sent[session] += actions
            push(session, from: first)
        case .resend(let session):
            let known = bench.log.receipts[Self.sessions[session]]?.count ?? 0
            push(session, from: known)
        case .local(let step, let isAwaited):
            let id = isAwaited ? LocalID(awaited) : nil
            awaited += 1
            bench.request(.action(LocalAction(step, id: id, origin: isAwaited ? .awaited : .dispatched)))
        case .reduce(let isFullAfter):
            // What middlewares dispatch is requested after the frames, in whatever turns these are reduced.
            bench.holdsRequests = true
            bench.turn(budget())
            if isFullAfter { fill(budget) }
            while bench.hasWork { bench.turn(budget()) }
            bench.holdsRequests = false
            while bench.hasWork { bench.turn(budget()) }
        case .commit: bench.commit()
        case .fill: fill(budget)
        }
    }

    private mutating func fill(_ budget: () -> TurnBudget) {
        guard bench.hasJournal else { return }
        let holdsRequests = bench.holdsRequests
        bench.fill()
        bench.now = bench.now.advanced(by: bench.limits.minRetryDelay)
        // What was rolled back precedes what arrives from now on.
        bench.holdsRequests = true
        while bench.hasWork { bench.turn(budget()) }
        bench.holdsRequests = holdsRequests
    }

    private mutating func push(_ session: Int, from first: Int) {
        let actions = sent[session][first...]
        guard !actions.isEmpty else { return }
        bench.receive(Fixture.frame(Array(actions), first: UInt64(first + 1), of: Self.sessions[session]))
    }

    /// The entries of the stored records, each with its session and number.
    var entries: [Entry] {
        bench.log.stored.flatMap(\.record.runs).flatMap { run in
            run.entries.enumerated().map { offset, entry in
                Entry(session: run.session, number: run.first.rawValue + UInt64(offset), entry: entry)
            }
        }
    }

    struct Entry: Hashable {
        let session: SessionID
        let number: UInt64
        let entry: BatchRecord.Entry

        /// Whether an applied action is stored as it reached the reducer.
        var isAsReduced: Bool {
            get throws {
                guard entry.rejection == nil else { return true }
                let step = try ActionTable([Step.self]).decode(entry.action) as? Step
                return step.map { $0.kind != .changed || $0.id > 1_000_000 } ?? false
            }
        }
    }
}

private enum Event {
    /// A frame of a session that repeats some of its last actions and adds others.
    case frame(session: Int, repeated: Int, [[UInt8]])
    /// The session sends again whatever has no receipt.
    case resend(session: Int)
    case local(Step, isAwaited: Bool)
    /// All that waits is reduced; the disk may be full after the first turn.
    case reduce(isFullAfterFirstTurn: Bool)
    case commit
    case fill
}

extension SeededGenerator {
    fileprivate mutating func step(_ id: inout UInt64) -> Step {
        id += 1
        let kinds = oneIn(2) ? [.plain] : Step.Kind.allCases
        return Step(id: id, kind: kinds[below(kinds.count)])
    }

    fileprivate mutating func bytes(_ id: inout UInt64) -> [UInt8] {
        switch below(14) {
        case 0: return [0xFF]
        case 1: return (try? ActionTable.encode(Unknown())) ?? []
        default: return (try? ActionTable.encode(step(&id))) ?? []
        }
    }

    fileprivate mutating func events() -> [Event] {
        var id: UInt64 = 0
        var events: [Event] = []
        let isFullWithin = oneIn(2)
        for _ in 0..<12 {
            for _ in 0..<below(4) {
                if oneIn(4) {
                    events.append(.local(step(&id), isAwaited: oneIn(2)))
                } else {
                    let actions = (0..<below(8)).map { _ in bytes(&id) }
                    events.append(.frame(session: below(Run.sessions.count), repeated: below(3), actions))
                }
            }
            events.append(.reduce(isFullAfterFirstTurn: isFullWithin && oneIn(4)))
            if oneIn(2) { events.append(.commit) }
            if oneIn(6) { events.append(.fill) }
            if oneIn(2) { events.append(.resend(session: below(Run.sessions.count))) }
        }
        for session in Run.sessions.indices {
            events += [.reduce(isFullAfterFirstTurn: false), .commit, .resend(session: session)]
        }
        // Also what middlewares dispatched at the last but one commit.
        for _ in 0..<2 { events += [.reduce(isFullAfterFirstTurn: false), .commit] }
        return events
    }
}

/// Random events, run by an engine with random budgets and by one that reduces one action at a time.
///
/// Compared are: all published outcomes with their revisions and messages, the answers to the primary's own process,
/// the last state and revision, the started effects, the number of dispatched actions, the actions in the stored
/// records with their outcomes, the sessions of a snapshot, and the suspects that are cleared. Not compared are the
/// batches: their borders differ, and with them updates, records and shown states.
///
/// Excluded is an action whose excess another one undoes in the same batch: alone it is rejected.
@Suite struct `Any batches` {
    @Test(arguments: seeds(0..<500))
    func `Any batches have the results of reducing one by one`(seed: UInt64) throws {
        for hasJournal in [false, true] {
            var generator = SeededGenerator(seed: seed)
            let suspects = (0..<3).map { _ in
                Suspect(
                    session: Run.sessions[generator.below(3)],
                    number: ActionNumber(UInt64(1 + generator.below(20))),
                    isPoison: generator.oneIn(2)
                )
            }
            var batches = try Run(hasJournal: hasJournal, suspects: suspects)
            var single = try Run(hasJournal: hasJournal, suspects: suspects)
            for event in generator.events() {
                batches.perform(event) { TurnBudget(actions: 1 + generator.below(9), bytes: 1 + generator.below(300)) }
                single.perform(event) { TurnBudget(actions: 1, bytes: 1) }
            }
            let place: Comment = "seed \(seed), \(hasJournal ? "journal" : "no journal")"
            let (left, right) = (batches.bench, single.bench)
            #expect(left.log.receipts == right.log.receipts, place)
            #expect(left.log.receipts.mapValues(\.count) == counts(of: batches), "all actions have outcomes, \(place)")
            #expect(left.log.answers == right.log.answers, place)
            #expect(left.engine.state == right.engine.state && left.head == right.head, place)
            #expect(left.log.started == right.log.started, place)
            #expect(left.log.dispatched == right.log.dispatched, place)
            for case .rejected(let reason) in left.log.receipts.values.flatMap(\.values) where reason.code == .noted {
                let id = try #require(UInt64(reason.message))
                #expect(left.engine.state.contains(id + 3_000_000), "what was dispatched is kept, \(place)")
            }
            #expect(batches.entries == single.entries, place)
            #expect(left.context?.encoded == right.context?.encoded, place)
            #expect(left.log.cleared.map(\.text).sorted() == right.log.cleared.map(\.text).sorted(), place)
            let total = left.log.counts.reduce(0) { $0 + $1.total }
            #expect(total == right.log.counts.reduce(0) { $0 + $1.total }, place)
            guard hasJournal else { continue }
            let (context, recovered) = (try #require(left.context), try left.recovered())
            #expect(context.sessions.agrees(with: recovered.sessions), "what was rolled back is forgotten, \(place)")
            #expect(context.summary == recovered.summary, place)
            #expect(total == batches.entries.count, place)
            #expect(try batches.entries.allSatisfy { try $0.isAsReduced }, place)
        }
    }

    private func counts(of run: Run) -> [SessionID: Int] {
        var counts: [SessionID: Int] = [:]
        for (session, sent) in zip(Run.sessions, run.sent) where !sent.isEmpty { counts[session] = sent.count }
        return counts
    }

    @Test func `Any batches are halved and split in the scripts`() throws {
        var (halved, split, codes): (Int, Int, Set<Rejection.Code>) = (0, 0, [])
        for seed in UInt64(0)..<20 {
            var generator = SeededGenerator(seed: seed)
            var run = try Run(hasJournal: true, suspects: [])
            for event in generator.events() {
                var budgets = 0
                let before = run.bench.log.records.count
                run.perform(event) {
                    budgets += 1
                    return TurnBudget(actions: 4, bytes: 100)
                }
                if budgets > 1 { split += 1 }
                if run.bench.log.records.count - before > budgets { halved += 1 }
            }
            codes.formUnion(run.bench.log.receipts.values.flatMap(\.values).compactMap(\.code))
        }
        #expect(halved > 0 && split > 0)
        #expect(
            codes == [
                .refused, .picky, .noted, .swallowed, .tooLarge, .unencodable, .undecodable, .unknownAction,
            ]
        )
    }
}

extension SentAction {
    fileprivate var text: String { "\(session) \(number)" }
}

extension Rejection.Code {
    fileprivate static let picky = Self(rawValue: "picky")
    fileprivate static let noted = Self(rawValue: "noted")
}
