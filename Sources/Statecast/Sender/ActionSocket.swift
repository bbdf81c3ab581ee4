import Logging
import StatecastCoding
import StatecastProtocol
import StatecastZeroMQ

/// The socket of libzmq on which a sender pushes its actions. Used on the sender's loop only.
final class ActionSocket: PushTransport {
    private struct Connection: ~Copyable {
        let socket: Socket
        let watch: Watch
    }

    private var connection: Connection?
    private let store: StoreName
    private let upstreams: [Endpoint]
    private let configuration: SenderConfiguration
    private let loop: PollLoop
    private let logger: Logger
    private let onWritable: () -> Void
    private let topic: [UInt8]
    /// The buffer in which frames are encoded; reused.
    private var writer = CBORWriter()

    /// More than the length of any host name and port, or path of a socket.
    private static let maxEndpointBytes = 512

    /// - Parameters:
    ///   - upstreams: where the nodes of the primary publish.
    ///   - onWritable: called on the loop when there is room.
    init(
        _ store: StoreName,
        of upstreams: [Endpoint],
        _ configuration: SenderConfiguration,
        on loop: PollLoop,
        _ logger: Logger,
        _ onWritable: @escaping () -> Void
    ) {
        (self.store, self.upstreams, self.configuration) = (store, upstreams, configuration)
        (self.loop, self.logger, self.onWritable) = (loop, logger, onWritable)
        topic = Address(store, .actions).bytes
    }

    func connect(to advertised: String) -> Result<String, Rejection> {
        connection = nil
        do {
            let target = try Self.target(advertised, upstreams, configuration)
            let socket = try Socket(.push, options: .pusher(configuration.limits, configuration.security))
            try socket.connect(target)
            let watch = loop.watch(socket, onReadable: {}, onWritable: onWritable)
            watch.wantsReadable = false
            connection = Connection(socket: socket, watch: watch)
            return .success(target.description)
        } catch {
            let endpoint = advertised.utf8.text(truncatedTo: Self.maxEndpointBytes) ?? advertised
            let reason = "the primary accepts actions at \(endpoint), to which this sender does not connect: \(error)"
            logger.error("cannot push actions", metadata: ["store": "\(store)", "error": "\(reason)"])
            return .failure(Rejection(.endpointRefused, reason))
        }
    }

    func close() { connection = nil }

    /// The endpoint for actions: the configured or the announced one, with the reached host in place of a wildcard.
    private static func target(
        _ advertised: String,
        _ upstreams: [Endpoint],
        _ configuration: SenderConfiguration
    ) throws -> Endpoint {
        if let own = configuration.actions {
            return try EndpointPolicy.connectable(
                own,
                configuration.plaintext,
                isEncrypted: configuration.security != nil
            )
        }
        guard advertised.utf8.count <= maxEndpointBytes else {
            throw StatecastError(.endpoint, "an endpoint has at most \(maxEndpointBytes) bytes")
        }
        do {
            var target = try Endpoint(advertised)
            guard !target.isRelative else {
                throw StatecastError(
                    .endpoint,
                    "it is a relative path, and another socket can have it in this process's folder: let the primary "
                        + "advertise an absolute one"
                )
            }
            if target.isWildcardHost {
                guard upstreams.count == 1 else {
                    throw StatecastError(
                        .endpoint,
                        "it has no host, and the primary has several nodes: let each advertise its own host"
                    )
                }
                if let host = upstreams[0].host { target = target.replacingHost(with: host) }
            }
            return try EndpointPolicy.connectable(
                target.description,
                configuration.plaintext,
                isEncrypted: configuration.security != nil
            )
        } catch let error as ZeroMQError {
            throw StatecastError(error)
        }
    }

    var awaitsWritable: Bool {
        get { connection?.watch.wantsWritable ?? false }
        set { connection?.watch.wantsWritable = newValue }
    }

    func push(_ frame: OutgoingFrame) -> Bool? {
        writer.removeAll()
        writer.encoded(topic)
        frame.write(to: &writer)
        do throws(ZeroMQError) {
            return try writer.withBytes { bytes throws(ZeroMQError) in
                try connection?.socket.send(UnsafeRawBufferPointer(bytes))
            }
        } catch {
            logger.error("cannot push", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
