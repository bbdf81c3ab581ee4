import StatecastProtocol
import StatecastThreading

/// Connections that behave like those of libzmq: ordered pipes with bounds, messages in flight that are lost with their
/// connection, and reconnects without an announcement.
final class Network {
    let world: World
    /// By endpoint.
    private var bound: [String: SimulatedSocket] = [:]
    /// By the name of a node, and the host of a server.
    private var paths: [String: [String: Path]] = [:]
    private var random: SplitMix64
    /// The messages that may wait in each subscriber's pipe.
    let maxQueue: Int

    init(_ world: World, maxQueue: Int) {
        (self.world, self.maxQueue) = (world, maxQueue)
        random = world.random.split()
    }

    /// Binds a socket, and closes the one before.
    func bind(_ socket: SimulatedSocket) {
        bound[socket.endpoint]?.close()
        bound[socket.endpoint] = socket
    }
    func unbind(_ socket: SimulatedSocket) { if bound[socket.endpoint] === socket { bound[socket.endpoint] = nil } }
    func publisher(at endpoint: String) -> BoundPublisher? { bound[endpoint] as? BoundPublisher }
    func puller(at endpoint: String) -> BoundPuller? { bound[endpoint] as? BoundPuller }

    /// The path from a node to an endpoint of a server; all sockets between the two hosts use it.
    func path(from node: String, to endpoint: String) -> Path {
        let host = endpoint.hasPrefix("tcp://") ? String(endpoint.dropLast(2)) : endpoint
        if let path = paths[node]?[host] { return path }
        let path = Path(latency: random.duration(.microseconds(30) ... .milliseconds(20)), random: random.split())
        paths[node, default: [:]][host] = path
        return path
    }

    /// The paths from a node to all servers that it has tried to reach, in the order of their names.
    func paths(from node: String) -> [Path] {
        (paths[node] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
    }

    /// Ends all partitions; silent connections stay.
    func heal() { for path in paths.values.flatMap(\.values) { path.unblock() } }

    /// A delay before a broken connection is tried again.
    func reconnectDelay() -> Duration { random.duration(.milliseconds(5) ... .seconds(2)) }

    /// A delay after which a server notices the end of a connection that announces none.
    func noticeDelay() -> Duration { random.duration(.zero ... .seconds(30)) }
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

    /// Whether a connection can begin.
    func isOpen(at now: Instant) -> Bool { blocked.values.allSatisfy { $0 <= now } }

    /// When something arrives that is sent now.
    func arrival(_ direction: Direction, from now: Instant) -> Instant {
        var delay = latency + .microseconds(random.below(50))
        if random.oneIn(200) { delay += random.duration(.milliseconds(1) ... .seconds(1)) }
        return max(now, blocked[direction] ?? now).advanced(by: delay)
    }
}
