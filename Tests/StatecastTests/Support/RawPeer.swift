import Statecast
import StatecastCoding
import StatecastProtocol
import StatecastZeroMQ
import Testing

/// A peer that sends and receives raw messages, including malformed ones.
actor RawPeer {
    private let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let subscriber: Socket
    private let pusher: Socket
    private var watches: [Watch] = []
    private let arrived: AsyncStream<[UInt8]>.Continuation
    private nonisolated let messages: AsyncStream<[UInt8]>
    private var unsent: [[UInt8]] = []

    /// - Parameter endpoint: where it subscribes; `nil`: where the primary publishes.
    init(_ address: PrimaryAddress, at endpoint: String? = nil, _ security: CurveSecurity? = nil) async throws {
        loop = try PollLoop()
        (messages, arrived) = AsyncStream.makeStream(of: [UInt8].self)
        var options = SocketOptions()
        options.receiveHighWaterMark = 100_000
        // Beyond it, libzmq drops subscriptions.
        options.sendHighWaterMark = 100_000
        options.security = security
        subscriber = try Socket(.sub, options: options)
        try subscriber.connect(try Endpoint(endpoint ?? address.publish))
        pusher = try Socket(.push, options: .with { $0.security = security })
        try pusher.connect(try Endpoint(address.actions))
        begin()
    }

    deinit { loop.shutdown() }

    private func begin() {
        watches = [
            loop.watch(subscriber) { [weak self] in self?.assumeIsolated { $0.drain() } },
            loop.watch(pusher) {
            } onWritable: { [weak self] in
                self?.assumeIsolated { $0.flush() }
            },
        ]
    }

    private func drain() {
        for _ in 0..<1000 {
            guard case .message(let bytes)? = try? subscriber.receive() else { return }
            arrived.yield(bytes)
        }
    }

    private func flush() {
        while let message = unsent.first, (try? pusher.send(message)) == true { unsent.removeFirst() }
        watches[1].wantsWritable = !unsent.isEmpty
    }

    /// Stops reading for good: messages for this peer stay queued.
    func stall() { watches[0].wantsReadable = false }

    func subscribe(_ topic: String) throws { try subscriber.subscribe(Array(topic.utf8) + [0]) }

    func subscribe(bytes: [UInt8]) throws { try subscriber.subscribe(bytes) }

    func unsubscribe(_ topic: String) throws { try subscriber.unsubscribe(Array(topic.utf8) + [0]) }

    func push(_ message: [UInt8]) {
        unsent.append(message)
        flush()
    }

    /// All messages, as they arrive.
    nonisolated var received: AsyncStream<[UInt8]> { messages }

    /// The messages that have arrived and were not consumed.
    func stopReceiving() async -> [[UInt8]] {
        drain()
        arrived.finish()
        return await messages.reduce(into: []) { $0.append($1) }
    }

    /// The next message of the topic, as a frame. Other messages are skipped.
    nonisolated func next(on topic: String) async throws -> Frame { try await nextMessage(on: topic).frame }

    /// The next message of the topic, with its encoded bytes.
    nonisolated func nextMessage(on topic: String) async throws -> (bytes: [UInt8], frame: Frame) {
        for await message in messages {
            guard message.starts(with: Array(topic.utf8) + [0]), let (_, body) = Message.split(message) else {
                continue
            }
            return (message, try Frame(decoding: body))
        }
        throw StatecastError(.closed, "the peer ended")
    }

    /// The next message of the topic, which contains receipts.
    nonisolated func receipts(on topic: String) async throws -> Receipts {
        try await next(on: topic) { if case .receipts(let receipts) = $0 { receipts } else { nil } }
    }

    /// The next message of the topic, which contains a refusal.
    @discardableResult
    nonisolated func refusal(on topic: String) async throws -> Refusal {
        try await next(on: topic) { if case .refusal(let refusal) = $0 { refusal } else { nil } }
    }

    /// The next message of the topic, which contains a welcome.
    nonisolated func welcome(on topic: String) async throws -> Welcome {
        try await next(on: topic) { if case .welcome(let welcome) = $0 { welcome } else { nil } }
    }

    private nonisolated func next<Content>(
        on topic: String,
        _ content: (Frame) -> Content?
    ) async throws -> Content {
        let frame = try await next(on: topic)
        guard let content = content(frame) else { throw StatecastError(.closed, "another frame came: \(frame)") }
        return content
    }

    /// Returns once the primary has processed all subscriptions made so far: a later one is answered after them.
    func answered(store: String = "counter") async throws {
        _ = try await watermark(of: SessionSecret.random().session, store: store)
    }

    /// Opens a session, and returns its watermark.
    func watermark(of session: SessionID, store: String = "counter") async throws -> Watermark {
        let topic = "sc2/\(store)/receipts/\(session)"
        try subscribe(topic)
        return try await next(on: topic) { if case .watermark(let watermark) = $0 { watermark } else { nil } }
    }
}

/// A session of a raw peer.
struct RawSession {
    let secret: SessionSecret
    let store: String
    let watermark: Watermark
    var peer: RawPeer

    init(_ secret: SessionSecret = .random(), of peer: RawPeer, store: String = "counter") async throws {
        (self.secret, self.store, self.peer) = (secret, store, peer)
        watermark = try await peer.watermark(of: secret.session, store: store)
    }

    /// The topic of its receipts.
    var topic: String { "sc2/\(store)/receipts/\(secret.session)" }

    /// A message with actions, of which the first one has this number.
    func message(_ actions: [[UInt8]] = [WireAction.increase], first: UInt64) throws -> [UInt8] {
        try WireAction.message(actions, first: first, secret, watermark, store: store)
    }

    func send(_ actions: [[UInt8]] = [WireAction.increase], first: UInt64) async throws {
        await peer.push(try message(actions, first: first))
    }

    /// Sends an action, and returns its outcome.
    func push(_ number: UInt64) async throws -> Outcome? {
        try await send(first: number)
        while true {
            guard case .receipts(let receipts) = try await peer.next(on: topic) else { continue }
            if let outcome = receipts.outcomes.outcome(of: ActionNumber(number)) { return outcome }
        }
    }
}

/// Encoded actions.
enum WireAction {
    static let increase = named("CounterIncreaseRequested")

    static func named(_ name: String, _ payload: Value = .map(ValueMap())) -> [UInt8] {
        Value.array([.text(name), payload]).encoded
    }

    static func message(
        _ actions: [[UInt8]],
        first: UInt64,
        _ secret: SessionSecret,
        _ watermark: Watermark,
        store: String = "counter"
    ) throws -> [UInt8] {
        let frame = ActionsFrame(
            lineage: watermark.lineage,
            session: secret.session,
            opened: watermark.opened,
            base: ActionNumber(1),
            first: ActionNumber(first),
            actions: actions
        )
        return Message.encode(frame, secret, to: Address(try StoreName(store), .actions).bytes)
    }
}

extension SessionSecret {
    static func random() -> SessionSecret {
        SessionSecret(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
    }
}

extension Message {
    /// The actions of a message to any store.
    static func decodeActions(_ message: [UInt8]) throws -> ActionsFrame {
        try ActionsFrame(decoding: try #require(split(message)).body)
    }
}
