internal import Logging
internal import SyncProtocol
internal import ZeroMQ

/// The connection on which a replica or a sender hears from its primary, and asks by subscribing; with the node's timer.
/// Lives on the node's loop.
final class Downlink {
    private let socket: Socket
    private let store: StoreName
    private let logger: Logger
    let watch: Watch
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
    ) throws {
        do throws(ZeroMQError) {
            let socket = try Socket(.sub, options: options)
            try socket.connect(endpoint)
            watch = loop.watch(socket, onReadable: onReadable)
            self.socket = socket
        } catch {
            throw StatecastError(error)
        }
        timer = loop.timer(onDeadline)
        self.store = store
        self.logger = logger
    }

    /// The next message; `nil` if none is there.
    func next() -> [UInt8]? { socket.next(logger) }

    func subscribe(_ topic: Topic) {
        do throws(ZeroMQError) { try socket.subscribe(Address(store, topic).bytes) } catch {
            logger.error("cannot subscribe", metadata: ["error": "\(error)"])
        }
    }

    func unsubscribe(_ topic: Topic) {
        do throws(ZeroMQError) { try socket.unsubscribe(Address(store, topic).bytes) } catch {
            logger.error("cannot unsubscribe", metadata: ["error": "\(error)"])
        }
    }
}

extension Socket {
    /// The next message; `nil` if none is there. One of several parts, which this protocol never has, comes as no bytes.
    func next(_ logger: Logger) -> [UInt8]? {
        do throws(ZeroMQError) {
            switch try receive() {
            case .message(let bytes): return bytes
            case .multipart: return []
            case nil: return nil
            }
        } catch {
            logger.error("cannot receive", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
