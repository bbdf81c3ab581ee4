import Statecast
import SyncProtocol
import ZeroMQ

/// A primary that says what a test wants it to say.
actor RawPrimary {
    private let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let publisher: Socket
    private var watch: Watch?
    private let asked: AsyncStream<Asked>.Continuation
    private nonisolated let requests: AsyncStream<Asked>
    private let store: StoreName
    nonisolated let endpoint: String

    init(store: String) async throws {
        self.store = try StoreName(store)
        loop = try PollLoop()
        (requests, asked) = AsyncStream.makeStream(of: Asked.self)
        let publisher = try Socket(.xpub, options: .with { $0.xpubVerbose = true })
        endpoint = try publisher.bind(try Endpoint("tcp://127.0.0.1:*")).description
        self.publisher = publisher
        watch = loop.watch(self.publisher) { [weak self] in self?.assumeIsolated { $0.drain() } }
    }

    deinit { loop.shutdown() }

    private func drain() {
        while case .message(let bytes)? = try? publisher.receive() {
            guard let address = try? Address(parsing: bytes.dropFirst()) else { continue }
            asked.yield(Asked(topic: address.topic, begins: bytes.first == 1))
        }
    }

    /// A subscription, or its end.
    struct Asked {
        let topic: Topic
        let begins: Bool
    }

    /// The next request that meets a condition.
    nonisolated func request(where condition: (Asked) -> Bool) async throws -> Topic {
        for await request in requests where condition(request) { return request.topic }
        throw StatecastError(.closed, "the primary was closed")
    }

    func publish(_ frame: Frame, on topic: Topic) throws {
        _ = try publisher.send(Message.encode(frame, to: Address(store, topic)))
    }

    /// Answers the next join with a snapshot of a state, in one chunk, and returns once the replica has taken it.
    func welcome(to lineage: Lineage, at revision: Revision, _ state: Value) async throws {
        let topic = try await request { if case .join = $0.topic { $0.begins } else { false } }
        let bytes = state.encoded
        let digest = Summary(of: state).digest
        let offer = Welcome.Offer(revision: revision, bytes: bytes.count, chunkBytes: 65_536, digest: digest)
        let welcome = Welcome(
            lineage: lineage,
            epoch: Epoch(1),
            head: revision,
            time: Timestamp(milliseconds: 0),
            fingerprint: 0,
            heartbeatInterval: .seconds(60),
            offer: offer
        )
        try publish(.welcome(welcome), on: topic)
        let chunk = try await request { if case .snapshot = $0.topic { $0.begins } else { false } }
        try publish(.chunk(Chunk(bytes: bytes[...])), on: chunk)
        _ = try await request { $0.topic == chunk && !$0.begins }
    }
}
