import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A poll loop` {
    @Test func `A poll loop runs its actors, and no other thread does`() async throws {
        try await withProbe { probe, loop in
            #expect(!loop.isOnLoop)
            #expect(loop.isIsolatingCurrentContext() == false)
            #expect(
                await probe.run { probe in
                    probe.loop.isOnLoop && probe.loop.isIsolatingCurrentContext() == true
                        && probe.assumeIsolated { _ in true }
                }
            )
            #expect(!loop.isOnLoop)
        }
    }

    @Test func `A poll loop traps a false assumption of isolation`() async {
        await #expect(processExitsWith: .failure) {
            let loop = try PollLoop()
            Probe(on: loop).assumeOnLoop()
        }
    }

    @Test func `A poll loop runs jobs in the order of their submission`() async throws {
        try await withProbe { probe, _ in
            let count = 20 * PollLoop.maxJobsPerTurn + 1
            await probe.run { probe in
                for number in 0..<count { Task { probe.record("\(number)") } }
            }
            #expect(await probe.events(count: count) == (0..<count).map(String.init))
        }
    }

    @Test func `A poll loop loses no job of many threads`() async throws {
        try await withProbe { probe, _ in
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { for _ in 0..<2000 { await probe.record("") } }
                }
            }
            #expect(await probe.events.count == 16_000)
        }
    }

    @Test func `A poll loop serves its sockets while jobs never end`() async throws {
        try await withProbe { probe, loop in
            let pull = try Bound(.pull, at: "inproc://loop-busy")
            let push = try connected(.push, to: pull.endpoint)
            try push.push([1])
            let node = Node(on: loop, from: pull.intoSocket()) { _, _ in
                probe.assumeIsolated { $0.record("message") }
            }
            await node.start()
            await probe.yieldUntilEvent()
        }
    }

    @Test func `A poll loop polls its sockets between many jobs`() async throws {
        try await withPipes("between", count: 1) { pipes, probe in
            let limit = PollLoop.maxJobsPerTurn
            await pipes.run { pipes in
                pipes.watch(0) { pipes in pipes.take(0) }
                // A job too, or it would be noticed before the others begin.
                Task { _ = pipes.send(to: 0) }
                for _ in 0..<4 * limit { Task { pipes.record("job") } }
            }
            let index = try #require(await probe.events(count: 4 * limit + 1).firstIndex(of: "0"))
            #expect(index <= limit)
        }
    }

    @Test func `A poll loop runs jobs while a socket is always ready`() async throws {
        try await withProbe { _, loop in
            let pull = try Bound(.pull, at: "inproc://loop-flooded")
            let push = try connected(.push, to: pull.endpoint)
            try push.push([1])
            let flooded = Flooded(on: loop, pull.intoSocket())
            await flooded.start()
            // Each of these is a job that must come between two calls of the handler.
            var calls = 0
            while calls < 100 { calls = await flooded.calls }
        }
    }

    @Test func `A poll loop reports a context's shutdown once to a socket's owner, and continues`() async throws {
        try await withProbe { _, loop in
            let context = Context()
            let pull = try Socket(.pull, in: context)
            _ = try pull.bind(Endpoint("inproc://loop-terminated"))
            let closing = Closing(on: loop, pull)
            await closing.start()
            context.shutdown()
            #expect(await closing.failure() == .terminated)
            // Each of these needs a turn, in which a socket that is still polled would be called again.
            for _ in 0..<100 { #expect(await closing.calls == 1) }
        }
    }
}

/// Never receives the available message.
private actor Flooded {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let socket: Socket
    private var watch: Watch?
    private(set) var calls = 0

    init(on loop: PollLoop, _ socket: consuming sending Socket) {
        self.loop = loop
        self.socket = socket
    }

    func start() {
        watch = loop.watch(socket) { [weak self] in self?.assumeIsolated { $0.calls += 1 } }
    }
}

/// Waits for its socket to fail.
private actor Closing {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let socket: Socket
    private var watch: Watch?
    private var code: ZeroMQError.Code?
    private(set) var calls = 0
    private var waiting: CheckedContinuation<ZeroMQError.Code?, Never>?

    init(on loop: PollLoop, _ socket: consuming sending Socket) {
        self.loop = loop
        self.socket = socket
    }

    func start() {
        watch = loop.watch(socket) { [weak self] in self?.assumeIsolated { $0.fail() } }
    }

    func failure() async -> ZeroMQError.Code? {
        if let code { return code }
        return await withCheckedContinuation { waiting = $0 }
    }

    private func fail() {
        calls += 1
        do { _ = try socket.receive() } catch { code = error.code }
        waiting?.resume(returning: code)
        waiting = nil
    }
}
