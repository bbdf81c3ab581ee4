import Logging
import StatecastProtocol
import StatecastZeroMQ

/// A socket of libzmq that is connected to a primary, or to all nodes of one. Used on the node's loop only.
final class Downlink: Transport {
    private struct Connection: ~Copyable {
        let socket: Socket
        let watch: Watch
    }

    private var connection: Connection
    private let connect: () throws(ZeroMQError) -> Connection
    private let store: StoreName
    private let logger: Logger
    private let clock: NodeClock
    private let timer: DeadlineTimer
    private let resources: ResourceWatch

    /// Connects.
    ///
    /// - Parameters:
    ///   - onReadable: called on the loop when a message has arrived.
    ///   - onDeadline: called on the loop at the instant of ``setTimer(_:)``.
    ///   - sample: called on the loop once a second.
    ///   - onMemoryLimit: called on the loop when the process uses more memory than `maxMemory`.
    /// - Throws: ``StatecastError`` with code `endpoint`.
    init(
        _ store: StoreName,
        from endpoints: [Endpoint],
        options: SocketOptions,
        maxMemory: Int?,
        on loop: PollLoop,
        _ clock: NodeClock,
        _ logger: Logger,
        onReadable: @escaping () -> Void,
        onDeadline: @escaping () -> Void,
        sample: @escaping () -> Void,
        onMemoryLimit: @escaping () -> Void
    ) throws(StatecastError) {
        connect = { () throws(ZeroMQError) in
            let socket = try Socket(.sub, options: options)
            for endpoint in endpoints { try socket.connect(endpoint) }
            let watch = loop.watch(socket, onReadable: onReadable)
            return Connection(socket: socket, watch: watch)
        }
        do throws(ZeroMQError) { connection = try connect() } catch { throw StatecastError(error) }
        timer = loop.timer(onDeadline)
        resources = ResourceWatch(
            maxMemory: maxMemory,
            on: loop,
            clock: clock,
            logger,
            peers: { ["store": "\(store)", "from": "\(endpoints.map(\.description).joined(separator: ","))"] },
            closeConnections: { _ in onMemoryLimit() },
            sample: sample
        )
        (self.store, self.clock, self.logger) = (store, clock, logger)
    }

    /// If there can be no new socket, the old one stays.
    func reconnect() {
        do throws(ZeroMQError) { connection = try connect() } catch {
            logger.error("cannot connect", metadata: ["error": "\(error)"])
        }
    }

    var wantsReadable: Bool {
        get { connection.watch.wantsReadable }
        set { connection.watch.wantsReadable = newValue }
    }

    func setTimer(_ deadline: Instant?) { timer.set(deadline.map(clock.deadline)) }

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

    /// The next message as ``next(_:)``, with the User-Id, which the ZAP handler has set, and the address.
    func nextFromPeer(hasAddress: Bool, _ logger: Logger) -> PeerMessage? {
        do throws(ZeroMQError) {
            return try receiveFromPeer(hasAddress: hasAddress).map { message, user, address in
                PeerMessage(message.bytes, from: user, address: address)
            }
        } catch {
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
