import StatecastThreading

/// Decides which peers may connect to the sockets of this process that have CURVE: the handler of ZeroMQ's
/// authentication protocol (ZAP, ZeroMQ RFC 27).
///
/// libzmq asks it at each handshake, and accepts every peer if there is no handler. So it is bound before the first
/// server socket is made, exists until the process ends, and ends the process if it fails. A socket is told apart by
/// its domain. A socket whose domain is unknown accepts no peer.
///
/// Do not shut down a context that has one.
///
/// Unchecked, but safe: after `init`, the ``SocketThread`` alone uses the socket.
package final class AuthenticationHandler: @unchecked Sendable {
    /// Decides whether a peer may connect. Called on a thread on which all peers wait for an answer: it must not wait.
    ///
    /// - Returns: the name of the peer's user; `nil` refuses the peer, which tries again later.
    package typealias Decision = @Sendable (CurvePublicKey) -> String?

    /// The handlers of the contexts; in practice the one of ``Context/shared``.
    private static let handlers = Locked<[ObjectIdentifier: AuthenticationHandler]>([:])

    private let socket: Socket
    /// Keeps the context alive, which identifies the handler.
    fileprivate let context: Context
    private let decisions = Locked<[String: Decision]>([:])

    /// Adds a domain: from now on, sockets may use it.
    ///
    /// - Parameters:
    ///   - domain: 1 to 255 bytes.
    /// - Throws: `invalidOption`; `addressInUse` if the domain or the handler's endpoint is in use;
    ///   `resourcesExhausted`.
    package static func add(
        _ domain: String,
        in context: Context = .shared,
        _ decide: @escaping Decision
    ) throws(ZeroMQError) -> AuthenticationDomain {
        guard (1...255).contains(domain.utf8.count) else {
            throw ZeroMQError(
                .invalidOption,
                "an authentication domain has 1 to 255 bytes, got \(domain.utf8.count): \(domain.debugDescription)"
            )
        }
        return try handlers.withLock { (handlers) throws(ZeroMQError) in
            let handler: AuthenticationHandler
            if let known = handlers[ObjectIdentifier(context)] {
                handler = known
            } else {
                let thread = try SocketThread.shared()
                handler = try AuthenticationHandler(in: context)
                handler.start(on: thread)
                handlers[ObjectIdentifier(context)] = handler
            }
            let isNew = handler.decisions.withLock { decisions in
                guard decisions[domain] == nil else { return false }
                decisions[domain] = decide
                return true
            }
            guard isNew else {
                throw ZeroMQError(.addressInUse, "the authentication domain \(domain.debugDescription) is in use")
            }
            return AuthenticationDomain(domain, of: handler)
        }
    }

    private init(in context: Context) throws(ZeroMQError) {
        socket = try Socket(.router, in: context)
        self.context = context
        _ = try socket.bind(Endpoint("inproc://zeromq.zap.01"))
    }

    fileprivate func remove(_ domain: String) { decisions.withLock { $0[domain] = nil } }

    /// Answers from a plain thread: tasks may wait while other code occupies Swift's pool.
    private func start(on thread: SocketThread) {
        thread.read(socket) { [self] in
            answerRequests()
            return true
        }
    }

    private func answerRequests() {
        do throws(ZeroMQError) {
            for _ in 0..<SocketThread.maxMessagesPerTurn {
                guard let frames = try socket.receiveFrames() else { return }
                let answer = Self.answer(to: frames) { domain, key in decisions.withLock { $0[domain] }?(key) }
                if let answer { _ = try socket.send(frames: answer) }
            }
        } catch {
            // Only a shutdown of the context leads here. Nothing shuts down `Context.shared`, also not the end of the
            // process, so this does not end a process that exits.
            fatalError("peers can no longer be authenticated, and libzmq would accept every peer: \(error)")
        }
    }

    /// - Parameters:
    ///   - frames: the address of the request, an empty frame, the version, the request's ID, the domain, the peer's
    ///     address, its routing ID, the mechanism, and for CURVE the peer's public key.
    ///   - decide: the user of a key in a domain; `nil` if the domain is unknown, or the key is not permitted.
    /// - Returns: `nil` for a request without an ID.
    static func answer(
        to frames: [[UInt8]],
        deciding decide: (_ domain: String, CurvePublicKey) -> String?
    ) -> [[UInt8]]? {
        guard frames.count >= 4 else { return nil }
        let head = Array(frames[0..<2]) + [Array("1.0".utf8), frames[3]]
        func answer(_ status: String, _ text: String, user: String = "") -> [[UInt8]] {
            head + [Array(status.utf8), Array(text.utf8), Array(user.utf8), []]
        }
        guard frames.count == 9, frames[2] == Array("1.0".utf8), frames[7] == Array("CURVE".utf8),
            let key = CurvePublicKey(bytes: frames[8])
        else { return answer("500", "unsupported request") }
        guard let user = decide(String(decoding: frames[4], as: UTF8.self), key) else {
            // After 400, libzmq's client never tries again. After 300, it does when the server's
            // `handshakeInterval` is over, which ends the connection.
            return answer("300", "not permitted")
        }
        return answer("200", "permitted", user: user)
    }
}

/// A domain of the ``AuthenticationHandler``, which ends with the last reference to it: peers are refused from then on.
package final class AuthenticationDomain: Hashable, Sendable {
    package let name: String
    private let handler: AuthenticationHandler

    fileprivate init(_ name: String, of handler: AuthenticationHandler) {
        self.name = name
        self.handler = handler
    }

    deinit { handler.remove(name) }

    /// Whether the handler authenticates the peers of a context's sockets.
    func isOf(_ context: Context) -> Bool { handler.context === context }

    package static func == (left: AuthenticationDomain, right: AuthenticationDomain) -> Bool { left === right }
    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
