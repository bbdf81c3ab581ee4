import StatecastProtocol
import StatecastThreading

/// Connections that behave like those of libzmq: ordered pipes with bounds, messages in flight that are lost with their
/// connection, and reconnects without an announcement.
final class Network {
    let world: World
    /// The servers that listen, by endpoint.
    private var servers: [String: Server] = [:]
    private var paths: [String: Path] = [:]
    private var random: SplitMix64
    /// The messages that may wait in each subscriber's pipe.
    let maxQueue: Int

    init(_ world: World, maxQueue: Int) {
        (self.world, self.maxQueue) = (world, maxQueue)
        random = world.random.split()
    }

    func listen(_ server: Server, at endpoint: String) {
        servers[endpoint]?.close()
        servers[endpoint] = server
    }
    func close(_ endpoint: String) { servers[endpoint] = nil }
    func server(at endpoint: String) -> Server? { servers[endpoint] }

    /// The path from a node to the server; both of its sockets use it.
    func path(of node: String) -> Path {
        if let path = paths[node] { return path }
        let path = Path(latency: random.duration(.microseconds(30) ... .milliseconds(20)), random: random.split())
        paths[node] = path
        return path
    }

    /// Ends all interruptions.
    func heal() { for path in paths.values { path.unblock() } }

    /// A delay before a broken connection is tried again.
    func reconnectDelay() -> Duration { random.duration(.milliseconds(5) ... .seconds(2)) }
}

/// The way between a node and the server, with its delays and interruptions.
final class Path {
    enum Direction { case up, down }

    private let latency: Duration
    private var random: SplitMix64
    /// Nothing passes before these times.
    private var blocked: [Direction: Instant] = [:]

    init(latency: Duration, random: SplitMix64) { (self.latency, self.random) = (latency, random) }

    func block(_ direction: Direction, until time: Instant) {
        blocked[direction] = max(blocked[direction] ?? time, time)
    }
    func unblock() { blocked = [:] }

    func isBlocked(_ direction: Direction, at now: Instant) -> Bool { blocked[direction].map { now < $0 } ?? false }

    /// When something arrives that is sent now.
    func arrival(_ direction: Direction, from now: Instant) -> Instant {
        var delay = latency + .microseconds(random.below(50))
        if random.oneIn(200) { delay += random.duration(.milliseconds(1) ... .seconds(1)) }
        return max(now, blocked[direction] ?? now).advanced(by: delay)
    }
}

/// The bound sockets of a primary: an XPUB and a PULL.
final class Server {
    private let world: World
    private let maxQueue: Int
    private(set) var feeds: [FeedPipe] = []
    private(set) var pushes: [PushPipe] = []
    /// What the XPUB has received: a flag and a topic each, and their user, as the transport authenticates it.
    private(set) var requests: [(message: [UInt8], user: String)] = []
    private var nextPush = 0
    /// Called when a socket becomes readable.
    private let onReadable: (Instant) -> Void

    init(_ world: World, maxQueue: Int, onReadable: @escaping (Instant) -> Void) {
        (self.world, self.maxQueue, self.onReadable) = (world, maxQueue, onReadable)
    }

    // MARK: XPUB

    func accept(_ pipe: FeedPipe) { feeds.append(pipe) }

    /// Publishes a message to the pipes that subscribed to its topic: no topic of the protocol is a prefix of another.
    func publish(_ message: [UInt8]) {
        guard let end = message.firstIndex(of: 0) else { return }
        let topic = Array(message[...end])
        for pipe in feeds { pipe.publish(message, on: topic, maxCount: maxQueue) }
    }

    /// A request has arrived on a pipe. Every subscription is reported, and the end of the last one of a topic, as a
    /// primary does with what its XPUB reports.
    func received(_ begins: Bool, _ topic: [UInt8], on pipe: FeedPipe) {
        if begins {
            pipe.filter.insert(topic)
        } else {
            guard pipe.filter.remove(topic) != nil, !feeds.contains(where: { $0.filter.contains(topic) }) else {
                return
            }
        }
        requests.append(([begins ? 1 : 0] + topic, pipe.user))
        onReadable(world.now)
    }

    /// The XPUB has noticed that a connection is gone.
    func remove(_ pipe: FeedPipe) {
        guard let index = feeds.firstIndex(where: { $0 === pipe }) else { return }
        feeds.remove(at: index)
        for topic in pipe.filter.sorted(by: { $0.lexicographicallyPrecedes($1) })
        where !feeds.contains(where: { $0.filter.contains(topic) }) { requests.append(([0] + topic, pipe.user)) }
        if !requests.isEmpty { onReadable(world.now) }
    }

    func takeRequests(_ maxCount: Int) -> [(message: [UInt8], user: String)] {
        let taken = Array(requests.prefix(maxCount))
        requests.removeFirst(taken.count)
        return taken
    }

    // MARK: PULL

    func accept(_ pipe: PushPipe) { pushes.append(pipe) }
    func arrives(at time: Instant) { onReadable(time) }

    /// The next message with its user, fairly among the connections. A broken connection stays until it is empty: what
    /// had arrived can still be read.
    func nextMessage() -> (message: [UInt8], user: String)? {
        pushes.removeAll { $0.isBroken && $0.isEmpty }
        for offset in pushes.indices {
            let pipe = pushes[(nextPush + offset) % pushes.count]
            guard let message = pipe.next(at: world.now) else { continue }
            nextPush = (nextPush + offset + 1) % pushes.count
            return (message, pipe.user)
        }
        return nil
    }

    /// The time at which the next message arrives.
    var nextArrival: Instant? { pushes.compactMap(\.nextArrival).min() }

    /// The process has ended: all connections break.
    func close() {
        for pipe in feeds { pipe.breaks() }
        for pipe in pushes { pipe.breaks() }
        (feeds, pushes, requests) = ([], [], [])
    }
}
