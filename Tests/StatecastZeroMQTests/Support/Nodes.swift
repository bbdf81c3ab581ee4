import StatecastZeroMQ

/// Receives messages from a socket and passes each to its test, or forwards it through another socket.
actor Node {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let input: Socket
    private let forward: @Sendable (isolated Node, [UInt8]) throws -> Void
    private var watch: Watch?

    /// Passed to the handler, which alone keeps it.
    private var token: Token?

    init(
        on loop: PollLoop,
        from input: consuming sending Socket,
        holding token: Token? = nil,
        forward: @escaping @Sendable (isolated Node, [UInt8]) throws -> Void
    ) {
        self.loop = loop
        self.input = input
        self.token = token
        self.forward = forward
    }

    func start() {
        watch = loop.watch(input) { [weak self, token] in
            self?.assumeIsolated { $0.drain() }
            _ = token
        }
        token = nil
    }

    private func drain() {
        do {
            for _ in 0..<64 {
                guard case .message(let bytes) = try input.receive() else { return }
                try forward(self, bytes)
            }
        } catch {
            watch = nil
        }
    }
}

/// A publisher that reports its first subscription.
actor Publisher {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let socket: Socket
    private var watch: Watch?
    private var subscribed: CheckedContinuation<Void, Never>?

    init(on loop: PollLoop, to socket: consuming sending Socket) {
        self.loop = loop
        self.socket = socket
    }

    /// Returns after the first subscription.
    func subscription() async {
        await withCheckedContinuation { continuation in
            subscribed = continuation
            watch = loop.watch(socket) { [weak self] in self?.assumeIsolated { $0.takeSubscription() } }
        }
    }

    private func takeSubscription() {
        while let incoming = try? socket.receive() {
            guard case .message(let bytes) = incoming, bytes.first == 1 else { continue }
            subscribed?.resume()
            subscribed = nil
        }
    }

    nonisolated func publish(_ message: [UInt8]) throws {
        _ = try assumeIsolated { publisher throws in try publisher.socket.send(message) }
    }
}
