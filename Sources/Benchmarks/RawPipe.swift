import Dispatch
import StatecastThreading
import StatecastZeroMQ
import Synchronization

/// The reference: the path of an action and its update over libzmq alone, PUSH -> PULL, PUB -> SUB on loopback TCP,
/// with plain threads.
enum RawPipe {
    /// No message or peer arrived within the timeout.
    struct Stalled: Error {}

    static let timeout = Duration.seconds(30)

    /// Runs `body` with both ends of a pipe, in whose middle a thread forwards messages until the process ends.
    ///
    /// - Parameters:
    ///   - room: the high-water mark of every socket. A publisher drops messages at it, so it must exceed the number in
    ///     flight.
    ///   - curve: whether the connections have CURVE.
    static func forwarding<Result>(
        room: Int,
        curve: Bool,
        _ body: (_ push: HandedSocket, _ sub: HandedSocket) throws -> Result
    ) throws -> Result {
        let context = Context(retainsReceiveBuffers: true)
        var (server, client): (CurveSecurity?, CurveSecurity?)
        if curve {
            let keys = CurveKeyPair.generate()
            server = .server(keys, try AuthenticationHandler.add("raw-pipe", in: context) { _ in "peer" })
            client = .client(.generate(), server: keys.publicKey)
        }
        func open(_ kind: SocketKind, _ security: CurveSecurity?) throws -> HandedSocket {
            let options = SocketOptions.with {
                $0.sendHighWaterMark = room
                $0.receiveHighWaterMark = room
                $0.security = security
            }
            return HandedSocket(try Socket(kind, options: options, in: context))
        }
        let (pull, xpub) = (try open(.pull, server), try open(.xpub, server))
        let (push, sub) = (try open(.push, client), try open(.sub, client))
        try push.socket.connect(pull.socket.bind(Endpoint("tcp://127.0.0.1:*")))
        try sub.socket.connect(xpub.socket.bind(Endpoint("tcp://127.0.0.1:*")))
        try sub.socket.subscribe([])
        _ = try xpub.socket.receiveWaiting()

        // Nothing ends it earlier: a context that authenticates peers cannot be shut down.
        _ = try JoinedThread("forwarder") {
            while true { try xpub.socket.sendWaiting(pull.socket.receiveWaiting(timeout: nil)) }
        }
        return try body(push, sub)
    }
}

extension Socket {
    borrowing func sendWaiting(_ message: [UInt8]) throws {
        while try !send(message) {
            guard try wait(for: .writable, timeout: RawPipe.timeout) else { throw RawPipe.Stalled() }
        }
    }

    borrowing func receiveWaiting(timeout: Duration? = RawPipe.timeout) throws -> [UInt8] {
        while true {
            if case .message(let bytes) = try receive() { return bytes }
            guard try wait(for: .readable, timeout: timeout) else { throw RawPipe.Stalled() }
        }
    }
}

/// Moves a socket to the one thread that uses it.
final class HandedSocket: @unchecked Sendable {  // safe: starting and joining a thread orders all before it
    let socket: Socket
    init(_ socket: consuming Socket) { self.socket = socket }
}

/// A thread with a result, which is joined once.
final class JoinedThread<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let ended = DispatchSemaphore(value: 0)

    init(_ name: String, _ body: @escaping @Sendable () throws -> Value) throws {
        try Threads.start(name: name, stackBytes: 1 << 20) { [self] in
            let value = Result(catching: body)
            result.withLock { $0 = value }
            ended.signal()
        }
    }

    func join() throws -> Value {
        ended.wait()
        guard let value = result.withLock({ $0 }) else { throw RawPipe.Stalled() }
        return try value.get()
    }
}
