import DequeModule
import StatecastProtocol

/// A PUSH socket with `ZMQ_IMMEDIATE`: it accepts a message only while there is a connection.
final class Pusher {
    private let process: Process
    private let network: Network
    private let path: Path
    private let user: String
    private let endpoint: String
    private let maxQueue: Int
    private var pipe: PushPipe?
    /// Whether `onWritable` is called when there is room.
    var awaitsWritable = false { didSet { if awaitsWritable, canSend { onWritable() } } }
    private let onWritable: () -> Void
    private var isClosed = false

    init(
        of process: Process,
        _ network: Network,
        node: String,
        user: String,
        to endpoint: String,
        maxQueue: Int,
        onWritable: @escaping () -> Void
    ) {
        (self.process, self.network, self.user, self.endpoint) = (process, network, user, endpoint)
        (self.maxQueue, self.onWritable) = (maxQueue, onWritable)
        path = network.path(of: node)
        connect(after: .zero)
    }

    private var canSend: Bool { pipe.map { $0.count < maxQueue } ?? false }

    /// - Returns: `false` if there is no connection, or no room.
    func send(_ message: [UInt8]) -> Bool {
        guard canSend, let pipe else { return false }
        pipe.send(message)
        return true
    }

    func close() {
        isClosed = true
        pipe?.breaks()
        pipe = nil
    }

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
    func breakConnection(keeping count: Int) -> Bool {
        guard let pipe else { return false }
        pipe.breaks(keeping: count)
        return true
    }

    private func connect(after delay: Duration) {
        network.world.schedule(after: delay) { [weak self] in self?.tryToConnect() }
    }

    private func tryToConnect() {
        guard !isClosed, process.isAlive, pipe == nil else { return }
        guard let server = network.server(at: endpoint), !path.isBlocked(.up, at: network.world.now),
            !path.isBlocked(.down, at: network.world.now)
        else { return connect(after: network.reconnectDelay()) }
        let new = PushPipe(
            network.world,
            of: user,
            to: server,
            path,
            onRoom: { [weak self] in if self?.awaitsWritable == true { self?.onWritable() } },
            onBreak: { [weak self] in self?.broken() }
        )
        pipe = new
        server.accept(new)
        if awaitsWritable { onWritable() }
    }

    private func broken() {
        pipe = nil
        if !isClosed { connect(after: network.reconnectDelay()) }
    }
}

/// A connection of a PUSH to a PULL.
final class PushPipe {
    private let world: World
    /// The user that the transport authenticates, if the primary has keys.
    let user: String
    private weak var server: Server?
    private let path: Path
    private var messages: Deque<(arrival: Instant, message: [UInt8])> = []
    private(set) var isBroken = false
    /// Whether nothing arrives any more, although the connection stays. What is sent occupies its queue.
    var isSilent = false
    private let onRoom: () -> Void
    private let onBreak: () -> Void

    init(
        _ world: World,
        of user: String,
        to server: Server,
        _ path: Path,
        onRoom: @escaping () -> Void,
        onBreak: @escaping () -> Void
    ) {
        (self.world, self.user, self.server, self.path) = (world, user, server, path)
        (self.onRoom, self.onBreak) = (onRoom, onBreak)
    }

    var count: Int { messages.count }
    var isEmpty: Bool { messages.isEmpty }
    var nextArrival: Instant? { isSilent ? nil : messages.first?.arrival }

    func send(_ message: [UInt8]) {
        let arrival = max(messages.last?.arrival ?? world.now, path.arrival(.up, from: world.now))
        messages.append((arrival, message))
        if messages.count == 1, !isSilent { server?.arrives(at: arrival) }
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
        onBreak()
    }

    func breaks(keeping count: Int) {
        messages.removeLast(max(0, messages.count - count))
        breaks()
    }
}
