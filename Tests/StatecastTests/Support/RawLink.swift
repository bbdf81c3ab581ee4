import Statecast
import SyncProtocol
import ZeroMQ

/// Stands between a replica and its primary, passes everything on in order, and loses an update when it is told to.
actor RawLink {
    private let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let publisher: Socket
    private let subscriber: Socket
    private var watches: [Watch] = []
    private var isLosing = false
    /// Where a replica reaches the primary through this link.
    nonisolated let endpoint: String

    init(to upstream: String) async throws {
        loop = try PollLoop()
        let publisher = try Socket(.xpub)
        endpoint = try publisher.bind(try Endpoint("tcp://127.0.0.1:*")).description
        self.publisher = publisher
        subscriber = try Socket(.sub)
        try subscriber.connect(try Endpoint(upstream))
        watches = [
            loop.watch(self.publisher) { [weak self] in self?.assumeIsolated { $0.passUp() } },
            loop.watch(self.subscriber) { [weak self] in self?.assumeIsolated { $0.passDown() } },
        ]
    }

    deinit { loop.shutdown() }

    /// The next update on the feed does not come through.
    func loseNextUpdate() { isLosing = true }

    private func passUp() {
        while case .message(let message)? = try? publisher.receive() {
            let topic = Array(message.dropFirst())
            if message.first == 1 { try? subscriber.subscribe(topic) } else { try? subscriber.unsubscribe(topic) }
        }
    }

    private func passDown() {
        while case .message(let message)? = try? subscriber.receive() {
            if isLosing, isUpdate(message) { isLosing = false } else { _ = try? publisher.send(message) }
        }
    }

    private func isUpdate(_ message: [UInt8]) -> Bool {
        guard case (let address, .update)? = try? Message.decode(message) else { return false }
        return address.topic == .feed
    }
}
