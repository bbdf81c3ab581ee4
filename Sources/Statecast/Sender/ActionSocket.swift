import Logging
import StatecastCoding
import StatecastProtocol
import StatecastZeroMQ

/// The socket on which a sender pushes its actions. Used on the sender's loop only.
final class ActionSocket {
    private let socket: Socket
    private let watch: Watch
    private let topic: [UInt8]
    private let logger: Logger
    /// The buffer in which frames are encoded; reused.
    private var writer = CBORWriter()
    /// The endpoint to which it connects.
    let endpoint: String

    /// More than the length of any host name and port, or path of a socket.
    private static let maxEndpointBytes = 512

    /// Connects.
    ///
    /// - Parameters:
    ///   - advertised: the endpoint that the primary announces.
    ///   - upstream: where the primary publishes.
    /// - Throws: a ``Rejection`` with code `endpoint-refused`.
    init(
        _ store: StoreName,
        to advertised: String,
        of upstream: Endpoint,
        _ configuration: SenderConfiguration,
        on loop: PollLoop,
        _ logger: Logger,
        _ onWritable: @escaping () -> Void
    ) throws(Rejection) {
        do {
            let target = try Self.target(advertised, upstream, configuration)
            let socket = try Socket(.push, options: .pusher(configuration.limits, configuration.security))
            try socket.connect(target)
            watch = loop.watch(socket, onReadable: {}, onWritable: onWritable)
            watch.wantsReadable = false
            self.socket = socket
            endpoint = target.description
        } catch {
            let endpoint = advertised.utf8.text(truncatedTo: Self.maxEndpointBytes) ?? advertised
            let reason = "the primary accepts actions at \(endpoint), to which this sender does not connect: \(error)"
            logger.error("cannot push actions", metadata: ["store": "\(store)", "error": "\(reason)"])
            throw Rejection(.endpointRefused, reason)
        }
        topic = Address(store, .actions).bytes
        self.logger = logger
    }

    /// The endpoint for actions: the configured or the announced one, with the reached host in place of a wildcard.
    private static func target(
        _ advertised: String,
        _ upstream: Endpoint,
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
            if target.isWildcardHost, let host = upstream.host { target = target.replacingHost(with: host) }
            return try EndpointPolicy.connectable(
                target.description,
                configuration.plaintext,
                isEncrypted: configuration.security != nil
            )
        } catch let error as ZeroMQError {
            throw StatecastError(error)
        }
    }

    /// Whether `onWritable` is called.
    var awaitsWritable: Bool {
        get { watch.wantsWritable }
        set { watch.wantsWritable = newValue }
    }

    /// - Returns: `false` if there is no connection; `nil` after a failure, which is logged.
    func send(_ frame: OutgoingFrame) -> Bool? {
        writer.removeAll()
        writer.encoded(topic)
        frame.write(to: &writer)
        do throws(ZeroMQError) {
            return try writer.withBytes { bytes throws(ZeroMQError) in
                try socket.send(UnsafeRawBufferPointer(bytes))
            }
        } catch {
            logger.error("cannot push", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
