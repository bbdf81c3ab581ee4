import ArgumentParser
import Foundation
import Statecast
import StatecastThreading
import StatecastZeroMQ

/// Actions at full speed, whose updates many subscribers receive.
struct FanOutWorkload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fan-out",
        abstract: "Sender -> primary -> subscribers that count, in a process of their own.",
        discussion: "The rate is that of deliveries: an action that reached one subscriber."
    )

    @OptionGroup var options: NodeOptions
    @Option(help: "Actions of the round.") var actions = 200_000
    @Option(help: "The random bytes that an action puts into a random one of 10,000 rows.") var bytes = 100
    @Option(help: "The subscribers.") var subscribers = 100

    func run() async throws {
        // As on the raw side: a subscriber may lag, and loses nothing.
        var options = options
        options.publishHighWaterMark = actions + 10_000
        let nodes = try await Nodes(Cells(), CellWritten.self, Cells.reducer, options: options)
        var random = SplitMix64(seed: 1)
        let marker = UUID().uuidString
        let written = (0..<actions).map { _ in
            CellWritten(cell: Int(random.next() % 10_000), bytes: random.bytes(bytes))
        }
        try await nodes.warmUp(written[0])
        let counting = try CountingProcess.start(nodes.publish, subscribers, marker: marker, topic: "sc2/bench/feed\0")
        // Heartbeats arrive at all subscribers.
        _ = try counting.line()
        var figures = Figures()
        let start = monotonicNow()
        try await nodes.stream(actions, window: options.window, into: &figures) { written[$0] }
        try await nodes.senders[0].send(CellWritten(cell: 0, bytes: Data(marker.utf8)))
        try figures.add(counting.line(), deliveries: actions * subscribers, since: start)
        counting.end()
        try await nodes.close()
        try figures.print()
    }
}

/// Messages at full speed from a plain PUB to the same subscribers.
struct RawFanOutWorkload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw-fan-out",
        abstract: "PUB -> the same subscribers, one message for each action."
    )

    @Option(help: "Messages of the round.") var actions = 20_000
    @Option(help: "Bytes of a message.") var bytes = 100
    @Option(help: "The subscribers.") var subscribers = 100

    func run() throws {
        let context = Context()
        let options = SocketOptions.with { $0.sendHighWaterMark = actions + 10_000 }
        let socket = HandedSocket(try Socket(.xpub, options: options, in: context))
        let endpoint = try socket.socket.bind(Endpoint("tcp://127.0.0.1:*"))
        let marker = UUID().uuidString
        let counting = try CountingProcess.start("\(endpoint)", subscribers, marker: marker, topic: "")
        // The common subscription is reported once, the own one of each subscriber after it.
        for _ in 0...subscribers { _ = try socket.socket.receiveWaiting() }
        try socket.socket.sendWaiting([1])
        _ = try counting.line()
        let message = [UInt8](repeating: 7, count: bytes)
        var figures = Figures()
        let start = monotonicNow()
        for _ in 0..<actions { try socket.socket.sendWaiting(message) }
        try socket.socket.sendWaiting(Array(marker.utf8))
        try figures.add(counting.line(), deliveries: actions * subscribers, since: start)
        counting.end()
        context.shutdown()
        try figures.print()
    }
}

extension Figures {
    /// - Parameter line: what ``CountingProcess`` says at its end.
    fileprivate mutating func add(_ line: String, deliveries: Int, since start: UInt64) throws {
        let fields = line.split(separator: " ").compactMap { UInt64($0) }
        // Heartbeats reach those that connect first.
        guard fields.count == 5, fields[4] - fields[3] <= 10 else {
            throw Invalid("subscribers lost messages: \(line)")
        }
        seconds = Double(fields[0] - start) / 1e9
        rate = Double(deliveries) / (seconds ?? 1)
        more = ["messages": Double(fields[1]), "bytes": Double(fields[2])]
    }
}

/// Subscribers that count: plain SUB sockets on one thread.
struct CountingProcess: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "count",
        abstract: "Counts messages in SUB sockets until each has received the marker.",
        shouldDisplay: false
    )

    @Option var endpoint: String
    @Option var subscribers: Int
    @Option(help: "The last message contains it.") var marker: String
    @Option var topic: String

    static func start(_ endpoint: String, _ subscribers: Int, marker: String, topic: String) throws -> ChildProcess {
        try ChildProcess([
            "count", "--endpoint", endpoint, "--subscribers", "\(subscribers)",
            "--marker", marker, "--topic", topic.replacing("\0", with: "|"),
        ])
    }

    func run() throws {
        let marker = Array(marker.utf8)
        let context = Context(retainsReceiveBuffers: true)
        let options = SocketOptions.with { $0.receiveHighWaterMark = 1_000_000 }
        let sockets = try (0..<subscribers).map { index in
            let socket = HandedSocket(try Socket(.sub, options: options, in: context))
            try socket.socket.connect(Endpoint(endpoint))
            try socket.socket.subscribe(Array(topic.replacing("|", with: "\0").utf8))
            // Tells the raw publisher that this subscriber is there.
            if topic.isEmpty { try socket.socket.subscribe(Array("#\(index)".utf8)) }
            return socket
        }
        for socket in sockets { _ = try socket.socket.receiveWaiting() }
        try say("ready")
        var messages = [Int](repeating: 0, count: subscribers)
        var bytes = 0
        var open = Array(sockets.enumerated())
        while let first = open.first {
            var received = false
            open = try open.filter { index, socket in
                while case .message(let message) = try socket.socket.receive() {
                    received = true
                    messages[index] += 1
                    bytes += message.count
                    // The marker's action is sent alone: its message is short.
                    if message.count < 1000, contains(message, marker) { return false }
                }
                return true
            }
            guard !received else { continue }
            guard try first.element.socket.wait(for: .readable, timeout: RawPipe.timeout) else {
                throw Invalid("a subscriber received \(messages[first.offset]) messages, and then none")
            }
        }
        let (least, most) = (messages.min() ?? 0, messages.max() ?? 0)
        try say("\(monotonicNow()) \(messages.reduce(0, +)) \(bytes) \(least) \(most)")
    }

    /// The collection's own search takes longer than the path of a message.
    private func contains(_ message: [UInt8], _ marker: [UInt8]) -> Bool {
        message.withUnsafeBytes { message in
            guard let start = message.baseAddress, message.count >= marker.count else { return false }
            return (0...message.count - marker.count).contains { memcmp(start + $0, marker, marker.count) == 0 }
        }
    }
}
