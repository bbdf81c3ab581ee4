import StatecastZeroMQ

/// Pairs of connected sockets on one loop, numbered; what they do is recorded by a probe on the same loop.
actor Pipes {
    let loop: PollLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let probe: Probe
    private var pipes: [Pipe] = []
    var watches: [Int: Watch] = [:]

    init(on loop: PollLoop, recording probe: Probe) {
        self.loop = loop
        self.probe = probe
    }

    func open(_ name: String, count: Int) throws {
        for number in 0..<count { pipes.append(try Pipe("inproc://pipes-\(name)-\(number)")) }
    }

    func run(_ body: @Sendable (isolated Pipes) -> Void) { body(self) }

    func record(_ event: String) { probe.assumeIsolated { $0.record(event) } }

    @discardableResult func send(to number: Int) -> Bool { (try? pipes[number].push.send([0])) ?? false }

    /// Receives a message and records the number of its pipe.
    func take(_ number: Int) {
        if let incoming = try? pipes[number].pull.receive(), incoming == .message([0]) { record("\(number)") }
    }

    func takeAll(_ number: Int) {
        while let incoming = try? pipes[number].pull.receive(), incoming == .message([0]) {}
    }

    func watch(_ number: Int, _ handler: @escaping @Sendable (isolated Pipes) -> Void) {
        watches[number] = loop.watch(pipes[number].pull) { [weak self] in self?.assumeIsolated { handler($0) } }
    }

    func watchRoom(_ number: Int, _ handler: @escaping @Sendable (isolated Pipes) -> Void) {
        watches[number] = loop.watch(pipes[number].push) {
        } onWritable: { [weak self] in
            self?.assumeIsolated { handler($0) }
        }
        watches[number]?.wantsReadable = false
    }
}

private final class Pipe {
    let push: Socket
    let pull: Socket

    init(_ name: String) throws {
        let few = SocketOptions.with {
            $0.sendHighWaterMark = 4
            $0.receiveHighWaterMark = 4
        }
        let bound = try Bound(.pull, at: name, options: few)
        push = try connected(.push, to: bound.endpoint, options: few)
        pull = bound.intoSocket()
    }
}

/// Runs `body` with connected pipes whose events the probe records.
func withPipes(_ name: String, count: Int, _ body: (Pipes, Probe) async throws -> Void) async throws {
    try await withProbe { probe, loop in
        let pipes = Pipes(on: loop, recording: probe)
        try await pipes.open(name, count: count)
        try await body(pipes, probe)
    }
}
