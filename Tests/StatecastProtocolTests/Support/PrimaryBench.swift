import StatecastCoding
import StatecastCore
import StatecastProtocol

/// The state of ``PrimaryBench``: the number of applied actions, so that it is equal to the revision.
struct TestCount: Codable, Hashable, Sendable {
    var value: UInt64 = 0
    /// Whether it cannot be encoded, so that a batch that leads to it cannot be published.
    var isBroken = false

    init() {}

    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(UInt64.self) }

    func encode(to encoder: any Encoder) throws {
        RecordedMarks.observer?.record(.encoded)
        guard !isBroken else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "broken")
            )
        }
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// The action of ``PrimaryBench``, which says what is to happen to it.
struct TestAction: Action {
    static let name = "add"

    /// Its number, so that each action has other bytes.
    var number: UInt64
    var verdict: Verdict

    enum Verdict: Codable, Hashable {
        case applied
        /// A middleware rejects it.
        case rejected(code: String, message: String)
        /// It is reduced, and the state cannot be published after it.
        case breaksState
    }

    init(number: UInt64, verdict: Verdict = .applied) {
        self.number = number
        self.verdict = verdict
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(UInt64.self, forKey: .number)
        verdict = try container.decode(Verdict.self, forKey: .verdict)
        RecordedMarks.observer?.record(.decoded(number))
    }

    private enum CodingKeys: CodingKey { case number, verdict }

    /// The action in a frame.
    var encoded: [UInt8] {
        do { return try ActionTable.encode(self) } catch { preconditionFailure("\(error)") }
    }
}

extension TestAction.Verdict {
    static func rejected(_ rejection: Rejection) -> Self {
        .rejected(code: rejection.code.rawValue, message: rejection.message)
    }
}

/// An engine whose actions do what their verdicts say.
struct PrimaryBench {
    var engine: EngineBench<TestCount>
    /// The verdict on each action by number; `applied` by default.
    var verdicts: [UInt64: TestAction.Verdict] = [:]

    init(_ limits: Limits = Limits(), hasJournal: Bool = true, suspects: [Suspect] = []) {
        let history = History(lineage: Fixture.lineage, epoch: Fixture.epoch, summary: Self.summary(0))
        self.init(history: history, limits, hasJournal: hasJournal, suspects: suspects)
    }

    /// Continues a history.
    init(
        history: History,
        _ limits: Limits = Limits(),
        hasJournal: Bool = true,
        suspects: [Suspect] = [],
        snapshots: SnapshotPolicy = SnapshotPolicy(bytes: .max, records: .max)
    ) {
        var state = TestCount()
        state.value = history.head.rawValue
        engine = EngineBench(
            Self.program,
            history: history,
            state: state,
            limits: limits,
            hasJournal: hasJournal,
            suspects: suspects,
            snapshots: snapshots
        )
    }

    /// The summary of a state, with a size that makes missed updates worth sending.
    static func summary(_ value: UInt64) -> Summary {
        Summary(digest: Summary(of: .unsigned(value)).digest, bytes: 1 << 20)
    }

    static var table: ActionTable {
        do { return try ActionTable([TestAction.self]) } catch { preconditionFailure("\(error)") }
    }

    private static var program: StoreProgram<TestCount> {
        StoreProgram(
            table,
            reducer: Reducer(of: TestAction.self) { state, action in
                RecordedMarks.observer?.record(.reduced(action.number))
                state.value += 1
                state.isBroken = state.isBroken || action.verdict == .breaksState
            },
            middleware: [
                .policy { action, _ in
                    if case .rejected(let code, let message)? = (action as? TestAction)?.verdict {
                        throw Rejection(Rejection.Code(rawValue: code), message)
                    }
                }
            ],
            dispatcher: KeptDispatcher()
        )
    }

    var limits: Limits { engine.limits }
    var records: [EncodedRecord] { engine.records }
    var head: Revision { engine.head }
    var reduced: Revision { engine.reduced }
    var hasWork: Bool { engine.hasWork }
    var nextDeadline: Instant { engine.engine.nextDeadline }
    var joinsWaiting: Int { engine.engine.joinsWaiting }
    var context: SnapshotContext? { engine.context }
    var now: Instant {
        get { engine.now }
        set { engine.now = newValue }
    }

    // MARK: Events

    /// A frame with these numbers.
    func frame(
        _ numbers: ClosedRange<UInt64>,
        of session: SessionID = Fixture.session,
        opened: UInt64 = 0,
        base: UInt64 = 1,
        lowest: UInt64? = nil,
        lineage: Lineage = Fixture.lineage
    ) -> ActionsFrame {
        ActionsFrame(
            lineage: lineage,
            session: session,
            opened: JournalSequence(opened),
            base: ActionNumber(base),
            lowest: lowest.map(ActionNumber.init),
            first: ActionNumber(numbers.lowerBound),
            actions: numbers.map { TestAction(number: $0, verdict: verdicts[$0] ?? .applied).encoded }
        )
    }

    /// Receives a frame with these numbers, which waits for a turn.
    @discardableResult
    mutating func push(
        _ numbers: ClosedRange<UInt64>,
        of session: SessionID = Fixture.session,
        opened: UInt64 = 0,
        base: UInt64 = 1,
        lowest: UInt64? = nil,
        lineage: Lineage = Fixture.lineage
    ) -> [Answer] {
        receive(frame(numbers, of: session, opened: opened, base: base, lowest: lowest, lineage: lineage))
    }

    /// Receives a frame with these numbers, and takes a turn.
    @discardableResult
    mutating func reduce(
        _ numbers: ClosedRange<UInt64>,
        of session: SessionID = Fixture.session,
        opened: UInt64 = 0,
        base: UInt64 = 1,
        lowest: UInt64? = nil,
        lineage: Lineage = Fixture.lineage
    ) -> [Answer] {
        push(numbers, of: session, opened: opened, base: base, lowest: lowest, lineage: lineage) + turn()
    }

    @discardableResult
    mutating func receive(_ frame: ActionsFrame, from sender: FrameSender? = nil) -> [Answer] {
        engine.receive(frame, from: sender)
    }

    @discardableResult
    mutating func turn() -> [Answer] { engine.turn() }

    /// Makes records durable, up to a number of them.
    @discardableResult
    mutating func commit(_ count: Int = .max) -> [Answer] { engine.commit(count) }

    /// Rolls back the records that are not durable. Actions are refused from then on, for `minRetryDelay`.
    @discardableResult
    mutating func fill() -> [Answer] { engine.fill() }

    /// Takes a turn and makes all records durable.
    @discardableResult
    mutating func turnAndCommit() -> [Answer] { turn() + commit() }

    /// Requests `count` actions in the primary's own process.
    mutating func act(_ count: Int = 1) {
        for _ in 0..<count { engine.request(.action(LocalAction(TestAction(number: 0), origin: .dispatched))) }
    }

    /// Publishes `count` updates of one action each.
    mutating func advance(by count: Int, of session: SessionID = Fixture.otherSession) {
        guard count > 0 else { return }
        let start = head.rawValue + 1
        for number in start..<(start + UInt64(count)) {
            push(number...number, of: session)
            turnAndCommit()
        }
    }

    /// Subscribes. Takes a turn for receipts, which are answered at its end.
    mutating func subscribed(to topic: Topic) -> [Answer] {
        let answers = engine.subscribed(to: topic)
        if case .receipts = topic { return answers + turn() }
        return answers
    }
    mutating func unsubscribed(from topic: Topic) -> [Answer] { engine.unsubscribed(from: topic) }

    /// Joins and takes a turn.
    @discardableResult
    mutating func join(_ nonce: UInt64 = 1, from position: Position? = nil) -> [Answer] {
        subscribed(to: Self.join(nonce, position)) + turn()
    }

    mutating func tick(at now: Instant) -> [Answer] { engine.tick(at: now) }

    mutating func snapshotEncoded(_ bytes: [UInt8], at revision: UInt64) {
        engine.snapshotEncoded(bytes, at: revision)
    }

    static func join(_ nonce: UInt64 = 1, _ position: Position? = nil) -> Topic { .join(Nonce(bits: nonce), position) }
}

extension EncodedRecord {
    /// The record, as the journal has it.
    var record: BatchRecord {
        do { return try BatchRecord(decoding: body) } catch { preconditionFailure("\(error)") }
    }
}
