import ZeroMQ

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The reference: the path of an action and its update over libzmq alone, PUSH -> PULL, PUB -> SUB on loopback TCP,
/// with plain threads.
///
/// ```swift
/// let pipe = RawPipe(bytes: 100)
/// print(try pipe.throughput(messages: 1_000_000).messagesPerSecond)
/// print(try pipe.latency(roundTrips: 10_000).p50)
/// ```
struct RawPipe: Sendable {
    /// The size of each message.
    let bytes: Int

    struct Throughput: Sendable {
        let messages: Int
        /// From the first send to the last receipt.
        let elapsed: Duration

        var messagesPerSecond: Double { Double(messages) / (elapsed / .seconds(1)) }
    }

    struct Latency: Sendable {
        /// From the send to the receipt, in ascending order.
        let samples: [Duration]

        var p50: Duration { percentile(50) }
        var p99: Duration { percentile(99) }

        /// The sample at a percentile (nearest rank); zero without samples.
        private func percentile(_ hundredths: Int) -> Duration {
            samples.isEmpty ? .zero : samples[max(0, (samples.count * hundredths + 99) / 100 - 1)]
        }
    }

    /// No message or peer arrived within the timeout.
    struct Stalled: Error {}

    fileprivate static let timeout = Duration.seconds(30)

    /// Sends messages as fast as the socket accepts them, and waits until the last has arrived.
    ///
    /// Three threads: the caller sends, the second forwards, the third receives. The queues hold all messages, because
    /// a publisher drops messages at its high-water mark.
    ///
    /// - Throws: ``Stalled``, or the error of a socket.
    func throughput(messages: Int) throws -> Throughput {
        try forwarding(room: messages + 1) { push, sub in
            let start = ContinuousClock.now
            let receiver = try PlainThread {
                for _ in 0..<messages { _ = try sub.socket.receiveWaiting() }
                return ContinuousClock.now
            }
            let message = [UInt8](repeating: 7, count: bytes)
            for _ in 0..<messages { try push.socket.sendWaiting(message) }
            return try Throughput(messages: messages, elapsed: receiver.join() - start)
        }
    }

    /// Sends one message at a time, each after the previous one has arrived.
    ///
    /// Two threads: the caller sends and receives, so that no switch of threads is measured.
    ///
    /// - Throws: ``Stalled``, or the error of a socket.
    func latency(roundTrips: Int) throws -> Latency {
        try forwarding(room: 1000) { push, sub in
            let message = [UInt8](repeating: 7, count: bytes)
            var samples: [Duration] = []
            samples.reserveCapacity(roundTrips)
            for _ in 0..<roundTrips {
                let start = ContinuousClock.now
                try push.socket.sendWaiting(message)
                _ = try sub.socket.receiveWaiting()
                samples.append(ContinuousClock.now - start)
            }
            return Latency(samples: samples.sorted())
        }
    }

    /// Runs `body` with both ends of a pipe, in whose middle a thread forwards messages.
    ///
    /// - Parameter room: the high-water mark of every socket.
    private func forwarding<Result>(
        room: Int,
        _ body: (_ push: HandedSocket, _ sub: HandedSocket) throws -> Result
    ) throws -> Result {
        let context = Context()
        let options = SocketOptions.with {
            $0.sendHighWaterMark = room
            $0.receiveHighWaterMark = room
        }
        func open(_ kind: SocketKind) throws -> HandedSocket {
            HandedSocket(try Socket(kind, options: options, in: context))
        }
        let (pull, xpub, push, sub) = (try open(.pull), try open(.xpub), try open(.push), try open(.sub))
        try push.socket.connect(pull.socket.bind(Endpoint("tcp://127.0.0.1:*")))
        try sub.socket.connect(xpub.socket.bind(Endpoint("tcp://127.0.0.1:*")))
        try sub.socket.subscribe([])
        _ = try xpub.socket.receiveWaiting()

        let forwarder = try PlainThread {
            while true { try xpub.socket.sendWaiting(pull.socket.receiveWaiting(timeout: nil)) }
        }
        // Ends the forwarder with an error.
        defer {
            context.shutdown()
            _ = try? forwarder.join()
        }
        return try body(push, sub)
    }
}

extension Socket {
    fileprivate borrowing func sendWaiting(_ message: [UInt8]) throws {
        while try !send(message) {
            guard try wait(for: .writable, timeout: RawPipe.timeout) else { throw RawPipe.Stalled() }
        }
    }

    fileprivate borrowing func receiveWaiting(timeout: Duration? = RawPipe.timeout) throws -> [UInt8] {
        while true {
            if case .message(let bytes) = try receive() { return bytes }
            guard try wait(for: .readable, timeout: timeout) else { throw RawPipe.Stalled() }
        }
    }
}

/// Moves a socket to the one thread that uses it.
private final class HandedSocket: @unchecked Sendable {  // safe: starting and joining a thread orders all before it
    let socket: Socket
    init(_ socket: consuming Socket) { self.socket = socket }
}

/// A thread with a result, which is joined once.
///
/// Unchecked, but safe: `result` is written by the thread and read after it was joined.
private final class PlainThread<Value: Sendable>: @unchecked Sendable {
    private let body: @Sendable () throws -> Value
    private var result: Result<Value, any Error>?
    private var thread: pthread_t?

    init(_ body: @escaping @Sendable () throws -> Value) throws {
        self.body = body
        let retained = Unmanaged.passRetained(Entry { self.result = Swift.Result(catching: self.body) })
        #if canImport(Darwin)
            let code = pthread_create(&thread, nil, enter, retained.toOpaque())
        #else
            var created = pthread_t()
            let code = pthread_create(&created, nil, enter, retained.toOpaque())
            thread = created
        #endif
        guard code == 0 else {
            retained.release()
            throw RawPipe.Stalled()
        }
    }

    func join() throws -> Value {
        guard let thread, pthread_join(thread, nil) == 0, let result else { throw RawPipe.Stalled() }
        return try result.get()
    }
}

private final class Entry {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}

#if canImport(Darwin)
    private let enter: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
        Unmanaged<Entry>.fromOpaque($0).takeRetainedValue().body()
        return nil
    }
#else
    private let enter: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        if let pointer = $0 { Unmanaged<Entry>.fromOpaque(pointer).takeRetainedValue().body() }
        return nil
    }
#endif
