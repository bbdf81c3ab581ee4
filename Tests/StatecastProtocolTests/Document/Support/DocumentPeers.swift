import StatecastCoding
import StatecastCore
import StatecastProtocol

/// The random numbers of a walk-through: the number in the document, then any numbers.
private struct DocumentRandomness: RandomNumberGenerator {
    var first: UInt64?
    private var state: UInt64 = 1

    init(first: UInt64? = nil) { self.first = first }

    mutating func next() -> UInt64 {
        if let number = first {
            first = nil
            return number
        }
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ (state >> 32)
    }
}

/// A replica whose document is a plain value.
struct DocumentReplica {
    private let store: StoreName
    private var machine: ReplicaMachine
    private var randomness: DocumentRandomness
    var requests: ArraySlice<DocumentRequest> = []
    private(set) var value = Value.null
    private(set) var status: ReplicaStatus?
    /// How often the digest was equal to the primary's.
    private(set) var verified = 0

    init(nonce: UInt64) throws {
        store = try StoreName("counter")
        machine = ReplicaMachine(limits: Limits(), now: .origin)
        randomness = DocumentRandomness(first: nonce)
    }

    mutating func start() throws { try perform(machine.start(at: .origin, using: &randomness)) }

    mutating func receive(_ message: [UInt8]) throws {
        let (address, frame) = try Message.decode(message)
        try perform(machine.received(frame, on: address.topic, at: .origin, using: &randomness))
    }

    private mutating func perform(_ directives: [ReplicaDirective]) throws {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): request(topic, begins: true)
            case .unsubscribe(let topic): request(topic, begins: false)
            case .install(let snapshot, _, let digest):
                value = try Value(decoding: snapshot)
                if Summary(of: value).digest != digest { value = .null }
            case .apply(let patch, _): try Patch(decoding: patch).apply(to: &value)
            case .verify(_, let digest): if Summary(of: value).digest == digest { verified += 1 }
            case .status(let new): status = new
            case .time, .count, .reconnect: break
            }
        }
    }

    private mutating func request(_ topic: Topic, begins: Bool) {
        requests.append(DocumentRequest(begins: begins, topic: Address(store, topic).bytes))
    }
}

/// A sender that records the outcomes of its actions.
struct DocumentSender {
    private let store: StoreName
    private let secret: SessionSecret
    private var machine: SenderMachine
    private var randomness = DocumentRandomness()
    private var now = Instant.origin
    var requests: ArraySlice<DocumentRequest> = []
    private(set) var outcomes: [Result<Position, Rejection>] = []

    init(_ secret: SessionSecret) throws {
        self.secret = secret
        store = try StoreName("counter")
        machine = SenderMachine(secret, limits: Limits(), now: .origin)
    }

    mutating func start() { perform(machine.start(at: now, using: &randomness)) }

    /// Submits the actions and pushes the next frame.
    mutating func push(_ actions: [Value]) -> [UInt8]? {
        perform(machine.submitted(ActionChunk(actions.map(\.encoded), first: Ticket(rawValue: 1))))
        guard let next = machine.nextFrame else { return nil }
        perform(machine.pushed(next, at: now, using: &randomness))
        return Message.encode(next.frame, secret, to: Address(store, .actions).bytes)
    }

    mutating func receive(_ message: [UInt8]) throws {
        let (address, frame) = try Message.decode(message)
        perform(machine.received(frame, on: address.topic, at: now, using: &randomness))
    }

    /// Advances the clock to the deadline at which the sender repeats its request.
    mutating func advanceToDeadline() {
        now = machine.nextDeadline ?? now
        perform(machine.tick(at: now, using: &randomness))
    }

    private mutating func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): request(topic, begins: true)
            case .unsubscribe(let topic): request(topic, begins: false)
            case .resolve(let runs): outcomes += runs.flatMap(\.outcomes).map(\.outcome.result)
            case .connect(let endpoint):
                perform(machine.connected(.success(endpoint), at: now, using: &randomness))
            case .reconnect, .save, .giveUp, .status, .count, .reuse, .answerSchema, .fail, .close: break
            }
        }
    }

    private mutating func request(_ topic: Topic, begins: Bool) {
        requests.append(DocumentRequest(begins: begins, topic: Address(store, topic).bytes))
    }
}
