package import StatecastProtocol

/// The connection on which a replica or a sender receives from its primary, and makes requests by subscribing, with the
/// node's timer: one of libzmq on a loop, or a simulated one. Used on one thread only.
package protocol Transport: AnyObject {
    /// The next message; `nil` if none has arrived.
    func next() -> [UInt8]?
    func subscribe(_ topic: Topic)
    func unsubscribe(_ topic: Topic)
    /// Replaces the connection by a new one, without the subscriptions and the unread messages of the old one.
    func reconnect()
    /// Whether the node is called when a message has arrived.
    var wantsReadable: Bool { get set }
    /// Calls the node at an instant instead of the one set before; `nil`: never.
    func setTimer(_ deadline: Instant?)
}

/// The socket on which a sender pushes its actions: one of libzmq on a loop, or a simulated one. Used on one thread
/// only.
package protocol PushTransport: AnyObject {
    /// Begins to connect to the endpoint that the primary advertises, or that is configured, instead of the one before.
    ///
    /// - Returns: the endpoint, or a rejection with code `endpoint-refused`.
    func connect(to advertised: String) -> Result<String, Rejection>
    func close()
    /// - Returns: `false` if no peer is connected or there is no room; `nil` if it is closed, and after a failure,
    ///   which it logs.
    func push(_ frame: OutgoingFrame) -> Bool?
    /// Whether the node is called when there is a connection with room.
    var awaitsWritable: Bool { get set }
}
