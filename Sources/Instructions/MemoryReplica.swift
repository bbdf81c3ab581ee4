import Statecast
import StatecastCoding
import StatecastProtocol
import StatecastThreading

/// A replica without sockets and threads.
struct MemoryReplica<State: Codable & Equatable & Sendable> {
    private var machine: ReplicaMachine
    private var document: Document<State>
    private var generator = SplitMix64(seed: 0)
    private var subscriptions: Subscriptions
    private let metrics: ReplicaMetrics
    /// The state that observers see.
    private(set) var state: State?

    init(_ store: StoreName) {
        let limits = Limits()
        machine = ReplicaMachine(limits: limits, now: .origin)
        document = Document(TypedContent<State>(), maxBytes: limits.maxSnapshotBytes)
        subscriptions = Subscriptions(of: store)
        metrics = ReplicaMetrics(store: store)
    }

    func isSubscribed(to message: [UInt8]) -> Bool { subscriptions.contains(message) }

    /// - Returns: the topics to subscribe to.
    mutating func start() throws -> [Topic] { try perform(machine.start(at: .origin, using: &generator)) }

    /// Receives messages of the primary, and shows the state after them.
    ///
    /// - Returns: the topics to subscribe to.
    mutating func receive(_ messages: [[UInt8]]) throws -> [Topic] {
        var topics: [Topic] = []
        for message in messages where isSubscribed(to: message) {
            let (address, frame) = try Message.decode(message)
            topics += try perform(machine.received(frame, on: address.topic, at: .origin, using: &generator))
        }
        try document.applyPending()
        state = try document.snapshot()?.state
        return topics
    }

    private mutating func perform(_ directives: [ReplicaDirective]) throws -> [Topic] {
        var topics: [Topic] = []
        for directive in directives {
            switch directive {
            case .subscribe(let topic):
                subscriptions.insert(topic)
                topics.append(topic)
            case .unsubscribe(let topic): subscriptions.remove(topic)
            case .install(let snapshot, let position, let digest):
                try document.process(.install(snapshot: snapshot, position, digest: digest))
            case .apply(let patch, let position):
                metrics.applied(bytes: patch.count)
                metrics.dequeued(steps: 1)
                try document.process(.apply(patch: patch, position))
            case .verify(let position, let digest):
                try document.process(.verify(position, digest: digest))
                if let verification = document.takeVerification() { try document.process(verification.run()) }
            case .status(let status): try document.process(.status(status))
            case .count(let event): metrics.count(event)
            case .time: break
            case .reconnect: preconditionFailure("unexpected: \(directive)")
            }
        }
        return topics
    }
}
