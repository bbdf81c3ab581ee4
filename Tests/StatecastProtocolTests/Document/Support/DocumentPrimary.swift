import StatecastCoding
import StatecastCore
import StatecastProtocol

/// The primary of the walk-throughs: a counter at revision 2, with a cached snapshot of revision 1.
///
/// It publishes to one peer the messages to which that peer subscribed.
struct DocumentPrimary {
    static let lineage = Lineage(bits: 0x7D1E_5C0A_94B3_F826)

    private static let time = Timestamp(milliseconds: 1_700_000_000_000)
    private static let others = SessionID(high: 1, low: 1)

    private struct Counter: Codable, Equatable {
        var step = 1
        var counter = 0
    }

    private struct StepChangeRequested: Action {
        var step: Int
    }

    private struct Incremented: Action {}

    /// A name that the store does not know. It is refused by a middleware, since the message of the decoder names the
    /// known actions, too.
    private struct Jump: Action {}

    private struct NoMarks: ReductionMarking {
        func begin(_ session: SessionID, _ number: ActionNumber) {}
        func end() {}
    }

    private var engine: StoreEngine<Counter>
    private let store: StoreName
    private let router: FrameRouter
    private var subscriptions: Set<[UInt8]> = []
    private var numbers: UInt64 = 0
    /// The messages that the peer has not received yet.
    var published: ArraySlice<[UInt8]> = []

    init() throws {
        store = try StoreName("counter")
        router = FrameRouter(stores: [store])
        let state = Counter()
        let program = StoreProgram(
            try ActionTable([StepChangeRequested.self, Incremented.self, Jump.self]),
            reducer: Reducer<Counter> { state, action in
                switch action {
                case let action as StepChangeRequested: state.step = action.step
                case is Incremented: state.counter += state.step
                default: break
                }
            },
            middleware: [
                .policy { action, _ in
                    guard action is Jump else { return }
                    throw Rejection(.unknownAction, "there is no action \"Jump\"")
                }
            ],
            dispatcher: KeptDispatcher()
        )
        let settings = StoreSettings(
            limits: Limits(),
            migrations: 6_425_107_239_870_014_923,
            actionsEndpoint: "tcp://127.0.0.1:7101",
            durability: nil,
            snapshots: SnapshotPolicy(bytes: .max, records: .max)
        )
        let summary = try Summary(ofEncoded: StateEncoder().encode(state))
        engine = StoreEngine(
            program,
            settings,
            history: History(lineage: Self.lineage, epoch: Epoch(1), summary: summary),
            state: state,
            now: .origin
        )
        tick()
        try change(StepChangeRequested(step: 5))
        send { $0.subscribed(to: .join(Nonce(bits: 1), nil), from: nil, into: &$1) }
        turn()
        try change(Incremented())
    }

    // MARK: Requests of the peer

    mutating func receive(_ request: DocumentRequest) {
        guard case .store(_, let topic) = router.subscription(request.topic[...]) else { return }
        if request.begins {
            subscriptions.insert(request.topic)
            send { $0.subscribed(to: topic, from: nil, into: &$1) }
        } else {
            subscriptions.remove(request.topic)
            send { $0.unsubscribed(from: topic, into: &$1) }
        }
        turn()
    }

    /// Admits and reduces actions: one that changes the step is applied, any other one is rejected as unknown.
    mutating func reduce(_ message: [UInt8]) {
        guard case .store(_, let frame) = router.actions(message) else { return }
        send { $0.received(frame, from: nil, at: .origin, into: &$1) }
        turn()
    }

    // MARK: Other events

    /// Another sender changes the step.
    mutating func change(step: Int) throws { try change(StepChangeRequested(step: step)) }

    private mutating func change(_ action: some Action) throws {
        numbers += 1
        let frame = ActionsFrame(
            lineage: Self.lineage,
            session: Self.others,
            opened: JournalSequence(0),
            base: ActionNumber(1),
            first: ActionNumber(numbers),
            actions: [try ActionTable.encode(action)]
        )
        send { $0.received(frame, from: nil, at: .origin, into: &$1) }
        turn()
    }

    mutating func tick() {
        let deadline = engine.nextDeadline
        send { $0.tick(at: deadline, time: Self.time, into: &$1) }
    }

    private mutating func turn() {
        send { $0.turn(at: .origin, time: Self.time, marking: NoMarks(), into: &$1) }
    }

    private mutating func send(_ event: (inout StoreEngine<Counter>, inout [StoreDirective]) -> Void) {
        var directives: [StoreDirective] = []
        event(&engine, &directives)
        for directive in directives {
            switch directive {
            case .publish(let topic, let frame):
                let address = Address(store, topic)
                if subscriptions.contains(address.bytes) { published.append(Message.encode(frame, to: address)) }
            case .encodeSnapshot:
                let (version, digest) = (engine.published, engine.published.summary.digest)
                let bytes = Result { () throws(CodingFailure) in try StateEncoder().encode(version.state) }
                send { $0.snapshotEncoded(bytes, revision: version.revision, digest: digest, at: .origin, into: &$1) }
                turn()
            default: break
            }
        }
    }
}
