import ArgumentParser
import Dispatch
import StatecastZeroMQ

/// Messages as fast as the raw pipe takes them.
///
/// Three threads: one sends, one forwards, one receives.
struct RawStreamWorkload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw-stream",
        abstract: "PUSH -> PULL -> PUB -> SUB at full speed with a bounded number in flight."
    )

    @Option(help: "Actions of the round.") var actions = 1_000_000
    @Option(help: "Bytes of an action.") var bytes = 100
    @Option(help: "The most actions in flight.") var window = 16_384
    @Option(help: "Actions in a message.") var pack = 1
    @Flag(help: "Encrypts and authenticates all connections with CURVE.") var curve = false

    func run() throws {
        var figures = Figures()
        let messages = actions / pack
        try RawPipe.forwarding(room: 4 * window, curve: curve) { push, sub in
            let message = [UInt8](repeating: 7, count: pack * bytes)
            let gate = DispatchSemaphore(value: 0)
            // A message is the unit in flight; the window is that of its actions.
            let flow = Flow(count: messages, window: max(1, window / pack)) { gate.signal() }
            let start = monotonicNow()
            let receiver = try JoinedThread("receiver") {
                for index in 1...messages {
                    _ = try sub.socket.receiveWaiting()
                    flow.advance(flow.receivers[0], to: index)
                }
                return monotonicNow()
            }
            for index in 0..<messages {
                while !flow.admits(index) { if flow.waits(for: index) { gate.wait() } }
                try push.socket.sendWaiting(message)
            }
            figures.seconds = Double(try receiver.join() - start) / 1e9
            figures.rate = Double(messages * pack) / (figures.seconds ?? 1)
            figures.inFlightMax = flow.inFlightMax * pack
            figures.add(latencies: flow.latencies)
        }
        try figures.print()
    }
}

/// One message at a time through the raw pipe.
///
/// Two threads: the sender also receives, so that no switch of threads is measured.
struct RawSingleWorkload: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "raw-single",
        abstract: "PUSH -> PULL -> PUB -> SUB, one message at a time."
    )

    @Option(help: "Messages of the round.") var actions = 5000
    @Option(help: "Bytes of a message.") var bytes = 100
    @Flag(help: "Encrypts and authenticates all connections with CURVE.") var curve = false

    func run() throws {
        var samples: [UInt64] = []
        try RawPipe.forwarding(room: 1000, curve: curve) { push, sub in
            let message = [UInt8](repeating: 7, count: bytes)
            func roundTrip() throws -> UInt64 {
                let start = monotonicNow()
                try push.socket.sendWaiting(message)
                _ = try sub.socket.receiveWaiting()
                return monotonicNow() - start
            }
            for _ in 0..<1000 { _ = try roundTrip() }
            for _ in 0..<actions { samples.append(try roundTrip()) }
        }
        var figures = Figures()
        figures.add(latencies: samples)
        try figures.print()
    }
}
