import Statecast
import ZeroMQ

/// Takes what is pushed to it and answers nothing.
actor RawHole {
    private let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let puller: Socket
    private var watch: Watch?
    private let arrived: AsyncStream<[UInt8]>.Continuation
    private nonisolated let messages: AsyncStream<[UInt8]>
    nonisolated let endpoint: String

    init() async throws {
        loop = try PollLoop()
        (messages, arrived) = AsyncStream.makeStream(of: [UInt8].self)
        let puller = try Socket(.pull)
        endpoint = try puller.bind(try Endpoint("tcp://127.0.0.1:*")).description
        self.puller = puller
        watch = loop.watch(self.puller) { [weak self] in self?.assumeIsolated { $0.drain() } }
    }

    deinit { loop.shutdown() }

    private func drain() {
        while case .message(let bytes)? = try? puller.receive() { arrived.yield(bytes) }
    }

    /// The next message.
    nonisolated func next() async throws -> [UInt8] {
        for await message in messages { return message }
        throw StatecastError(.closed, "the hole was closed")
    }
}
