import Statecast
import StatecastCoding
import StatecastProtocol
import StatecastZeroMQ

/// A primary that sends the frames that a test chooses.
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

    /// A subscription or an unsubscription.
    struct Asked {
        let topic: Topic
        let begins: Bool
    }

    /// The next subscription.
    nonisolated func request() async throws -> Asked {
        for await request in requests where request.begins { return request }
        throw StatecastError(.closed, "the primary ended")
    }

    func publish(_ frame: Frame, on topic: Topic) throws {
        _ = try publisher.send(Message.encode(frame, to: Address(store, topic)))
    }

    /// Answers joins with a snapshot of a state, in one chunk, and returns once the replica has pulled it. A replica
    /// that had to wait joins again, so there may be several joins.
    func welcome(to lineage: Lineage, at revision: Revision, _ state: Value) async throws {
        let bytes = state.encoded
        let digest = Summary(of: state).digest
        let offer = Welcome.Offer(revision: revision, bytes: bytes.count, chunkBytes: 65_536, digest: digest)
        let welcome = Welcome(
            lineage: lineage,
            epoch: Epoch(1),
            head: revision,
            time: Timestamp(milliseconds: 0),
            stateVersion: 0,
            heartbeatInterval: .seconds(60),
            offer: offer
        )
        for await request in requests {
            switch (request.topic, request.begins) {
            case (.join, true): try publish(.welcome(welcome), on: request.topic)
            case (.snapshot(lineage, _, _), true): try publish(.chunk(Chunk(bytes: bytes[...])), on: request.topic)
            case (.snapshot(lineage, _, _), false): return
            default: continue
            }
        }
    }
}

/// Receives pushed messages and answers none.
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
