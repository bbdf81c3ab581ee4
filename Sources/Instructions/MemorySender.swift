import Statecast
import StatecastCoding
import StatecastCore
import StatecastProtocol
import StatecastThreading

/// A sender without sockets and threads.
struct MemorySender<Input: Action> {
    private var machine: SenderMachine
    private var generator = SplitMix64(seed: 0)
    private var subscriptions: Subscriptions
    private let metrics: SenderMetrics
    private let topic: [UInt8]
    private var writer = CBORWriter()
    private var chunk = ActionChunk(first: Ticket(rawValue: 1))
    /// Buffers of earlier chunks.
    private var buffers: [[UInt8]] = []

    init(_ store: StoreName) {
        machine = SenderMachine(SessionSecret(high: 1, low: 2), limits: Limits(), now: .origin)
        subscriptions = Subscriptions(of: store)
        metrics = SenderMetrics(store: store)
        topic = Address(store, .actions).bytes
    }

    /// The number of actions without a receipt.
    var pendingCount: Int { machine.pendingCount }

    func isSubscribed(to message: [UInt8]) -> Bool { subscriptions.contains(message) }

    /// - Returns: the topics to subscribe to.
    mutating func start() -> [Topic] { perform(machine.start(at: .origin, using: &generator)) }

    /// Encodes actions.
    ///
    /// - Returns: the messages that contain them.
    mutating func send(_ actions: [Input]) throws -> [[UInt8]] {
        for action in actions { try NamedEncoding.encode(action, name: Input.name) { chunk.append($0) } }
        let next = ActionChunk(first: chunk.end, reusing: buffers.popLast() ?? [])
        _ = perform(machine.submitted(exchange(&chunk, with: next)))
        var messages: [[UInt8]] = []
        while let frame = machine.nextFrame {
            writer.removeAll()
            writer.encoded(topic)
            frame.write(to: &writer)
            messages.append(writer.bytes)
            _ = perform(machine.pushed(frame, at: .origin, using: &generator))
        }
        return messages
    }

    /// Receives messages of the primary.
    ///
    /// - Returns: the topics to subscribe to.
    mutating func receive(_ messages: [[UInt8]]) throws -> [Topic] {
        var topics: [Topic] = []
        for message in messages where isSubscribed(to: message) {
            let (address, frame) = try Message.decode(message)
            topics += perform(machine.received(frame, on: address.topic, at: .origin, using: &generator))
        }
        return topics
    }

    private mutating func perform(_ directives: [SenderDirective]) -> [Topic] {
        var topics: [Topic] = []
        for directive in directives {
            switch directive {
            case .subscribe(let topic):
                subscriptions.insert(topic)
                topics.append(topic)
            case .unsubscribe(let topic): subscriptions.remove(topic)
            case .connect(let endpoint):
                topics += perform(machine.connected(.success(endpoint), at: .origin, using: &generator))
            case .reuse(let buffer): buffers.append(buffer)
            case .count(let event): metrics.count(event)
            // The outcomes are not awaited.
            case .resolve(let runs):
                var counts = OutcomeCounts()
                for run in runs { counts.add(run.count, rejectedAs: run.code) }
                metrics.resolved(counts)
                metrics.received(after: .zero)
            case .status: break
            case .reconnect, .save, .giveUp, .answerSchema, .fail, .close:
                preconditionFailure("unexpected: \(directive)")
            }
        }
        return topics
    }
}
