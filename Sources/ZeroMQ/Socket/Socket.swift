internal import CZeroMQ

/// A ZeroMQ socket that closes itself.
///
/// A socket belongs to one thread at a time. It is not `Sendable`, so the compiler sees to that: keep it in an actor
/// that runs on a ``PollLoop``, and let the loop say when there is something to do.
///
/// Nothing here waits, except ``wait(for:timeout:)``.
package struct Socket: ~Copyable {
    let handle: SocketHandle
    private let options: SocketOptions

    /// Makes a socket that neither binds nor connects yet.
    ///
    /// - Throws: `invalidOption`; `resourcesExhausted` if descriptors ran out; `terminated` if the context was shut down.
    package init(
        _ kind: SocketKind,
        options: SocketOptions = SocketOptions(),
        in context: Context = .shared
    ) throws(ZeroMQError) {
        let handle = try SocketHandle(kind, in: context)
        try options.apply(to: handle)
        self.handle = handle
        self.options = options
    }

    // Without one, optimized code would drop a socket after its last use, and with it what it has still to send, while
    // its scope goes on. A value with a `deinit` lives as long as its scope.
    deinit { withExtendedLifetime(handle) {} }

    /// What the socket does with messages.
    package var kind: SocketKind { handle.kind }

    /// The folder that was made for `ipc://*`, if one was: it lasts as long as this is held.
    package var folder: AnyObject? { handle.folder }

    /// Asks the publishers for the messages whose first bytes are `topic`; no bytes ask for all.
    ///
    /// Subscribing twice to one topic takes unsubscribing twice. Topics beyond 245 bytes arrive corrupted (libzmq 4.3).
    ///
    /// - Throws: `unsupported` on other sockets than `sub`.
    package func subscribe(_ topic: [UInt8]) throws(ZeroMQError) {
        try requireSubscriber("subscribe")
        try handle.set(ZMQ_SUBSCRIBE, topic)
    }

    /// Takes one ``subscribe(_:)`` to `topic` back. Messages that are under way still arrive.
    ///
    /// - Throws: `unsupported` on other sockets than `sub`.
    package func unsubscribe(_ topic: [UInt8]) throws(ZeroMQError) {
        try requireSubscriber("unsubscribe")
        try handle.set(ZMQ_UNSUBSCRIBE, topic)
    }

    private func requireSubscriber(_ what: String) throws(ZeroMQError) {
        guard kind == .sub else {
            throw ZeroMQError(.unsupported, "a \(kind) socket cannot \(what): only a sub socket can")
        }
    }

    /// IPv6 addresses need the option; names and `*` keep to what the user asked for.
    func prepare(for endpoint: Endpoint) throws(ZeroMQError) {
        try handle.set(ZMQ_IPV6, options.ipv6 || endpoint.host?.isIPv6 == true)
    }
}
