import StateCoding
import StateCore
import StateJSON
import SyncProtocol

/// The primary of the walk-throughs: a counter at revision 2, with a cached snapshot of revision 1.
///
/// It publishes to one peer the messages to which that peer subscribed.
struct DocumentPrimary {
    static let lineage = Lineage(bits: 0x7D1E_5C0A_94B3_F826)

    private static let time = Timestamp(milliseconds: 1_700_000_000_000)
    private static let others = SessionID(high: 1, low: 1)

    private var machine: PrimaryMachine
    private let store: StoreName
    private let router: FrameRouter
    private var subscriptions: Set<[UInt8]> = []
    private var state: Value
    private var numbers: UInt64 = 0
    /// The messages that the peer has not received yet.
    var published: ArraySlice<[UInt8]> = []

    init() throws {
        store = try StoreName("counter")
        router = FrameRouter(stores: [store])
        state = try JSON.value(parsing: #"{"step": 1, "counter": 0}"#)
        machine = PrimaryMachine(
            store: store,
            history: History(lineage: Self.lineage, epoch: Epoch(1), summary: Summary(of: state)),
            stateVersion: 6_425_107_239_870_014_923,
            actions: [],
            actionsEndpoint: "tcp://127.0.0.1:7101",
            limits: Limits(),
            now: .origin
        )
        perform(machine.tick(at: .origin, time: Self.time))
        try change(patch: #"{"step": [5]}"#, to: #"{"step": 5, "counter": 0}"#)
        perform(machine.subscribed(to: .join(Nonce(bits: 1), nil)))
        perform(machine.serve(at: .origin, time: Self.time))
        try change(patch: #"{"counter": [5]}"#, to: #"{"step": 5, "counter": 5}"#)
    }

    // MARK: Requests of the peer

    mutating func receive(_ request: DocumentRequest) {
        guard case .store(_, let topic) = router.subscription(request.topic[...]) else { return }
        if request.begins {
            subscriptions.insert(request.topic)
            perform(machine.subscribed(to: topic))
        } else {
            subscriptions.remove(request.topic)
            perform(machine.unsubscribed(from: topic))
        }
        perform(machine.serve(at: .origin, time: Self.time))
    }

    /// Admits and reduces actions: one that changes the step is applied, any other one is rejected as unknown.
    mutating func reduce(_ message: [UInt8]) throws {
        guard case .store(_, let frame) = router.actions(message) else { return }
        let (admitted, directives) = machine.admit(frame)
        perform(directives)
        guard let admitted else { return }
        let before = state
        var number = admitted.first
        for bytes in admitted.actions {
            let action = try Value(decoding: bytes)
            let name = action[0]?.textValue ?? ""
            if name == "StepChangeRequested", let step = action[1]?["step"], case .map(var fields) = state {
                fields["step"] = step
                state = .map(fields)
                _ = machine.resolved(admitted.session, number, .applied)
            } else {
                let rejection = Rejection(.unknownAction, "there is no action \"\(name)\"")
                _ = machine.resolved(admitted.session, number, .rejected(rejection))
            }
            number = number.next
        }
        perform(machine.close(patch: Patch(from: before, to: state).encode(), summary: Summary(of: state)))
    }

    // MARK: Other events

    /// Another sender's action changes the state.
    mutating func change(patch: String, to new: String) throws {
        state = try JSON.value(parsing: new)
        numbers += 1
        let frame = ActionsFrame(
            lineage: Self.lineage,
            session: Self.others,
            opened: JournalSequence(0),
            base: ActionNumber(1),
            first: ActionNumber(numbers),
            actions: [[0xA0]]
        )
        _ = machine.admit(frame)
        _ = machine.resolved(Self.others, ActionNumber(numbers), .applied)
        let patch = try JSON.value(parsing: patch).encoded
        perform(machine.close(patch: patch, summary: Summary(of: state)))
    }

    mutating func tick() { perform(machine.tick(at: machine.nextDeadline, time: Self.time)) }

    private mutating func perform(_ directives: [PrimaryDirective]) {
        for directive in directives {
            switch directive {
            case .publish(let topic, let frame):
                let address = Address(store, topic)
                if subscriptions.contains(address.bytes) { published.append(Message.encode(frame, to: address)) }
            case .encodeSnapshot:
                machine.snapshotEncoded(
                    state.encoded,
                    revision: machine.head,
                    digest: Summary(of: state).digest,
                    at: .origin
                )
            case .commit(let record): perform(machine.committed(through: record.sequence, at: .origin))
            case .durable, .count, .readPast: break
            }
        }
    }
}
