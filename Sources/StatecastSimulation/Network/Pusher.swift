import DequeModule
import Statecast
import StatecastCoding
import StatecastProtocol

/// A PUSH socket with `ZMQ_IMMEDIATE` on the loop of a sender: it accepts a message only while there is a connection.
final class Pusher: PushTransport {
    private let process: Process
    private let network: Network
    private let node: String
    private let user: String
    private let topic: [UInt8]
    private let maxQueue: Int
    /// `nil` while it is closed.
    private var endpoint: String?
    private var pipe: PushPipe?
    /// The number of attempts to connect; only the last one counts.
    private var attempts = 0
    /// Called when there is room, and the node waits for it.
    var onWritable: () -> Void = {}
    /// Called with whether the advertised endpoint is accepted.
    var onConnect: (_ isAccepted: Bool) -> Void = { _ in }
    /// Called before a frame is sent. Whether it is.
    var onPush: (OutgoingFrame) -> Bool = { _ in true }
    /// Called with the encoding of a frame that was sent; `nil`: it was not.
    var onPushed: ([UInt8]?) -> Void = { _ in }

    init(of process: Process, _ network: Network, node: String, user: String, of store: StoreName, maxQueue: Int) {
        (self.process, self.network, self.user, self.maxQueue) = (process, network, user, maxQueue)
        topic = Address(store, .actions).bytes
        self.node = node
    }

    // MARK: The node's calls

    /// Refuses an endpoint that is malformed, as `ActionSocket` does.
    func connect(to advertised: String) -> Result<String, Rejection> {
        process.world.note("\(process.name) connects to \(advertised)")
        close()
        onConnect(!advertised.isEmpty)
        guard !advertised.isEmpty else { return .failure(Rejection(.endpointRefused, "no endpoint")) }
        endpoint = advertised
        connect(after: .zero)
        return .success(advertised)
    }

    func push(_ frame: OutgoingFrame) -> Bool? {
        guard endpoint != nil else { return nil }
        var writer = CBORWriter()
        frame.write(to: &writer)
        guard onPush(frame), canSend, let pipe else {
            onPushed(nil)
            return false
        }
        pipe.send(topic + writer.bytes)
        onPushed(writer.bytes)
        return true
    }

    func close() {
        let old = pipe
        (endpoint, pipe) = (nil, nil)
        old?.breaks()
    }

    var awaitsWritable = false { didSet { becameWritable() } }

    private var canSend: Bool { pipe.map { $0.count < maxQueue } ?? false }

    private func becameWritable() {
        guard awaitsWritable, canSend else { return }
        process.schedule(after: .microseconds(5)) { [weak self] in
            if let self, awaitsWritable, canSend { onWritable() }
        }
    }

    // MARK: Connections

    /// The connection stays, and delivers nothing any more.
    ///
    /// - Returns: whether there was a connection.
    func silence() -> Bool {
        pipe?.isSilent = true
        return pipe != nil
    }

    /// The connection breaks. What is in flight is lost, or still arrives, perhaps among what the next one brings.
    ///
    /// - Parameter count: how many of the messages in flight arrive at most.
    /// - Returns: whether there was a connection.
    @discardableResult
    func breakConnection(keeping count: Int) -> Bool {
        guard let pipe else { return false }
        pipe.breaks(keeping: count)
        return true
    }

    private func connect(after delay: Duration) {
        attempts += 1
        network.world.schedule(after: delay) { [weak self, attempts] in
            if let self, attempts == self.attempts { tryToConnect() }
        }
    }

    private func tryToConnect() {
        guard let endpoint, process.isAlive, pipe == nil else { return }
        let path = network.path(from: node, to: endpoint)
        guard let puller = network.puller(at: endpoint), path.isOpen(at: network.world.now) else {
            return connect(after: network.reconnectDelay())
        }
        let new = PushPipe(
            network.world,
            of: user,
            to: puller,
            path,
            onRoom: { [weak self] in self?.becameWritable() },
            onBreak: { [weak self] in self?.broken($0) }
        )
        pipe = new
        puller.accept(new)
        becameWritable()
    }

    private func broken(_ broken: PushPipe) {
        guard broken === pipe else { return }
        pipe = nil
        connect(after: network.reconnectDelay())
    }
}

/// A connection of a PUSH to a PULL.
final class PushPipe {
    private let world: World
    /// The user that the transport authenticates, if the primary has keys.
    let user: String
    private weak var puller: BoundPuller?
    private let path: Path
    private var messages: Deque<(arrival: Instant, message: [UInt8])> = []
    private(set) var isBroken = false
    /// Whether nothing arrives any more, although the connection stays. What is sent occupies its queue.
    var isSilent = false
    private let onRoom: () -> Void
    private let onBreak: (PushPipe) -> Void

    init(
        _ world: World,
        of user: String,
        to puller: BoundPuller,
        _ path: Path,
        onRoom: @escaping () -> Void,
        onBreak: @escaping (PushPipe) -> Void
    ) {
        (self.world, self.user, self.puller, self.path) = (world, user, puller, path)
        (self.onRoom, self.onBreak) = (onRoom, onBreak)
    }

    var count: Int { messages.count }
    var isEmpty: Bool { messages.isEmpty }
    var nextArrival: Instant? { isSilent ? nil : messages.first?.arrival }

    func send(_ message: [UInt8]) {
        let arrival = max(messages.last?.arrival ?? world.now, path.arrival(.up, from: world.now))
        messages.append((arrival, message))
        if messages.count == 1, !isSilent { puller?.arrives(at: arrival) }
    }

    func next(at now: Instant) -> [UInt8]? {
        guard let first = messages.first, first.arrival <= now, !isSilent else { return nil }
        messages.removeFirst()
        onRoom()
        return first.message
    }

    /// What is in flight still arrives, but the sender does not know it.
    func breaks() {
        guard !isBroken else { return }
        isBroken = true
        if isSilent { messages = [] }
        onBreak(self)
    }

    func breaks(keeping count: Int) {
        messages.removeLast(max(0, messages.count - count))
        breaks()
    }
}
