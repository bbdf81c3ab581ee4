import StatecastZeroMQ
import Testing

@Suite(.timeLimit(.minutes(10))) struct `The shutdown of a loop` {
    @Test func `The shutdown of a loop runs every job that was queued, in order`() async throws {
        let loop = try PollLoop()
        let probe = Probe(on: loop)
        let count = 3 * PollLoop.maxJobsPerTurn
        await probe.run { probe in
            for number in 0..<count { Task { probe.record("\(number)") } }
            loop.shutdown()
        }
        #expect(await probe.events(count: count) == (0..<count).map(String.init))
    }

    @Test func `The shutdown of a loop may be repeated, on the loop and off it`() async throws {
        let loop = try PollLoop()
        let probe = Probe(on: loop)
        loop.shutdown()
        await probe.run { _ in loop.shutdown() }
        loop.shutdown()
        await probe.record("done")
        #expect(await probe.events == ["done"])
    }

    @Test func `The shutdown of a loop runs later jobs, one after the other`() async throws {
        let loop = try PollLoop()
        let probe = Probe(on: loop)
        loop.shutdown()
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<500 { await probe.run { probe in probe.record("\(probe.loop.isOnLoop)") } }
                }
            }
        }
        #expect(await probe.events == Array(repeating: "true", count: 2000))
        #expect(!loop.isOnLoop)
    }

    @Test func `The shutdown of a loop releases all handlers, even those that retain their actor`() async throws {
        let loop = try PollLoop()
        let released = try await startClinging(on: loop)
        loop.shutdown()
        for await _ in released {}
    }

    /// Starts an actor that only its own handlers keep; the stream ends with it.
    private func startClinging(on loop: PollLoop) async throws -> AsyncStream<Never> {
        let (released, token) = Token.make()
        let pull = try Bound(.pull, at: "inproc://shutdown-handlers")
        await Clinging(on: loop, pull.intoSocket(), token).start()
        return released
    }

    @Test func `The shutdown of a loop makes later watches and timers ineffective`() async throws {
        let loop = try PollLoop()
        loop.shutdown()
        let pull = try Bound(.pull, at: "inproc://shutdown-later")
        let push = try connected(.push, to: pull.endpoint)
        try push.push([1])
        let probe = Probe(on: loop)
        let node = Node(on: loop, from: pull.intoSocket()) { _, _ in probe.assumeIsolated { $0.record("message") } }
        await node.start()
        await probe.run { probe in
            let timer = loop.timer { [weak probe] in probe?.assumeIsolated { $0.record("timer") } }
            timer.set(.now)
            #expect(timer.deadline == nil)
        }
        #expect(await probe.events.isEmpty)
    }
}

/// Its handlers hold it, as they should not.
private actor Clinging {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let socket: Socket
    private let token: Token
    private var watch: Watch?
    private var timer: DeadlineTimer?

    init(on loop: PollLoop, _ socket: consuming sending Socket, _ token: Token) {
        self.loop = loop
        self.socket = socket
        self.token = token
    }

    func start() {
        watch = loop.watch(socket) { self.use() }
        timer = loop.timer { self.use() }
    }

    private func use() {}
}
