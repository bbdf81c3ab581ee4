import Logging
import StatecastProtocol
import StatecastZeroMQ

/// The connection on which a replica or a sender receives from its primary, and makes requests by subscribing; with the
/// node's timer. Used on the node's loop only.
final class Downlink {
    private struct Connection: ~Copyable {
        let socket: Socket
        let watch: Watch
    }

    private var connection: Connection
    private let connect: () throws(ZeroMQError) -> Connection
    private let store: StoreName
    private let logger: Logger
    let timer: DeadlineTimer

    /// Connects.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`.
    init(
        _ store: StoreName,
        from endpoint: Endpoint,
        options: SocketOptions,
        on loop: PollLoop,
        logger: Logger,
        onReadable: @escaping () -> Void,
        onDeadline: @escaping () -> Void
    ) throws(StatecastError) {
        connect = { () throws(ZeroMQError) in
            let socket = try Socket(.sub, options: options)
            try socket.connect(endpoint)
            let watch = loop.watch(socket, onReadable: onReadable)
            return Connection(socket: socket, watch: watch)
        }
        do throws(ZeroMQError) { connection = try connect() } catch { throw StatecastError(error) }
        timer = loop.timer(onDeadline)
        self.store = store
        self.logger = logger
    }

    /// Replaces the connection by a new one, without the subscriptions of the old one. If there can be no new socket,
    /// the old one stays.
    func reconnect() {
        do throws(ZeroMQError) { connection = try connect() } catch {
            logger.error("cannot connect", metadata: ["error": "\(error)"])
        }
    }

    var watch: Watch { connection.watch }

    /// The next message; `nil` if none has arrived.
    func next() -> [UInt8]? { connection.socket.next(logger) }

    func subscribe(_ topic: Topic) {
        do throws(ZeroMQError) { try connection.socket.subscribe(Address(store, topic).bytes) } catch {
            logger.error("cannot subscribe", metadata: ["error": "\(error)"])
        }
    }

    func unsubscribe(_ topic: Topic) {
        do throws(ZeroMQError) { try connection.socket.unsubscribe(Address(store, topic).bytes) } catch {
            logger.error("cannot unsubscribe", metadata: ["error": "\(error)"])
        }
    }
}

extension Socket {
    /// The next message; `nil` if none has arrived. A message of several parts, which this protocol does not use, is
    /// returned as an empty one, which is malformed.
    func next(_ logger: Logger) -> [UInt8]? {
        do throws(ZeroMQError) { return try receive()?.bytes } catch {
            logger.error("cannot receive", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// The next message as ``next(_:)``, and its User-Id, which the ZAP handler has set.
    func nextFromUser(_ logger: Logger) -> (message: [UInt8], user: String?)? {
        do throws(ZeroMQError) { return try receiveFromUser().map { ($0.message.bytes, $0.user) } } catch {
            logger.error("cannot receive", metadata: ["error": "\(error)"])
            return nil
        }
    }
}

extension Incoming {
    fileprivate var bytes: [UInt8] {
        switch self {
        case .message(let bytes): bytes
        case .multipart: []
        }
    }
}

/// Logs messages that cannot be read: the first one, and then each time that their number has doubled.
struct UnreadableMessageLog {
    private var count = 0

    mutating func record(_ failure: MessageFailure, _ logger: Logger) {
        count += 1
        guard count & (count - 1) == 0 else { return }
        logger.warning("\(count) messages of the primary cannot be read", metadata: ["last": "\(failure)"])
    }
}
