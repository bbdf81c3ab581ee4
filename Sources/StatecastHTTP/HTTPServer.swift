#if HTTP
    package import NIOCore
    package import NIOHTTP1
    import NIOPosix

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// A request, read to its end.
    package struct HTTPRequest: Sendable {
        package let method: HTTPMethod
        /// The path as sent, without the query: `/metrics`.
        package let path: String
        /// The text after the first `?`.
        package let query: String?
        package let headers: HTTPHeaders
        package let body: ByteBuffer
        /// The IP address of the client.
        package let address: String
    }

    /// The answer to a request.
    package struct HTTPResponse: Sendable {
        package enum Body: Sendable {
            case bytes(ByteBuffer)
            /// Writes the body. Its task is cancelled when the client leaves, and when the server stops.
            case stream(@Sendable (HTTPStream) async throws -> Void)
        }

        package var status: HTTPResponseStatus
        package var headers: HTTPHeaders
        package var body: Body

        package init(_ status: HTTPResponseStatus, _ headers: HTTPHeaders = [:], _ body: Body) {
            (self.status, self.headers, self.body) = (status, headers, body)
        }

        /// A body of text with its type.
        package init(_ status: HTTPResponseStatus, type: String, _ text: String, _ headers: HTTPHeaders = [:]) {
            self.init(status, headers, .bytes(ByteBuffer(string: text)))
            self.headers.add(name: "Content-Type", value: type)
        }
    }

    /// The bounds of a server. A client that exceeds one is refused and disconnected.
    package struct HTTPLimits: Sendable {
        /// Open connections. A further one replaces the one that has made no request for the longest time; it is
        /// answered by 503 if all are being answered.
        package var maxConnections = 256
        /// Connections that wait to be accepted: the system slows down clients that open more at once.
        package var backlog: Int32 = 128
        /// Bytes of a request line and its headers together.
        package var maxHeadBytes = 16 << 10
        package var maxHeaders = 64
        package var maxBodyBytes = 0
        /// From the first byte of a request to the end of its head.
        package var headTimeout = TimeAmount.seconds(5)
        /// From the end of a head to the end of the body.
        package var bodyTimeout = TimeAmount.seconds(10)
        /// Without a request.
        package var idleTimeout = TimeAmount.seconds(30)
        /// Until the system takes a written response, or a part of a stream.
        package var writeTimeout = TimeAmount.seconds(10)

        package init() {}
    }

    /// An HTTP/1.1 server on one thread, without TLS: for this machine, or for a proxy that encrypts.
    package final class HTTPServer: Sendable {
        /// The bound address.
        package let address: SocketAddress
        private let group: MultiThreadedEventLoopGroup
        private let channel: any Channel
        private let registry: NIOLoopBound<HTTPRegistry>

        private init(
            _ group: MultiThreadedEventLoopGroup,
            _ channel: any Channel,
            _ registry: NIOLoopBound<HTTPRegistry>
        ) {
            (self.group, self.channel, self.registry) = (group, channel, registry)
            guard let address = channel.localAddress else { preconditionFailure("a bound socket without an address") }
            self.address = address
        }

        /// Binds an address and answers requests.
        ///
        /// - Parameters:
        ///   - permitsHost: judges the `Host` of a request, without its port; others are answered by 421.
        ///   - respond: called on the server's thread, for one request of a connection at a time; must not block.
        /// - Throws: an error of the system, such as `EADDRINUSE`.
        package static func start(
            host: String,
            port: Int,
            limits: HTTPLimits = HTTPLimits(),
            permitsHost: @escaping @Sendable (String) -> Bool,
            respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
        ) async throws -> HTTPServer {
            let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
            let loop = group.next()
            do {
                let registry = try await loop.submit {
                    NIOLoopBound(
                        HTTPRegistry(limits, on: loop, permitsHost: permitsHost, respond: respond),
                        eventLoop: loop
                    )
                }.get()
                let channel = try await ServerBootstrap(group: group)
                    .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                    .serverChannelOption(.backlog, value: limits.backlog)
                    .serverChannelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.closeOnExecute()
                            try channel.pipeline.syncOperations.addHandler(AcceptHandler())
                        }
                    }
                    .childChannelOption(.allowRemoteHalfClosure, value: true)
                    // One fast client does not occupy the loop.
                    .childChannelOption(.maxMessagesPerRead, value: 1)
                    .childChannelOption(.socketOption(.so_sndbuf), value: 128 << 10)
                    .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                    .childChannelInitializer { channel in
                        channel.eventLoop.makeCompletedFuture {
                            try channel.closeOnExecute()
                            try registry.value.serve(channel)
                        }
                    }
                    .bind(host: host, port: port).get()
                return HTTPServer(group, channel, registry)
            } catch {
                try? await group.shutdownGracefully()
                throw error
            }
        }

        /// The number of open connections.
        package var connectionCount: Int {
            get async { (try? await channel.eventLoop.submit { [registry] in registry.value.count }.get()) ?? 0 }
        }

        /// Waits, without a thread of Swift's pool.
        package func pause(_ time: TimeAmount) async {
            try? await channel.eventLoop.scheduleTask(in: time) {}.futureResult.get()
        }

        /// Accepts no more connections, cancels streams, completes the answers in progress, and ends.
        ///
        /// - Parameter grace: after it, connections are cut.
        package func stop(grace: TimeAmount) async {
            try? await channel.close()
            try? await channel.eventLoop.flatSubmit { [registry] in registry.value.drain(grace: grace) }.get()
            try? await group.shutdownGracefully()
        }
    }

    /// Waits before it accepts more connections if there is an error, such as no free descriptor, which would otherwise
    /// be repeated without a pause.
    private final class AcceptHandler: ChannelInboundHandler {
        typealias InboundIn = any Channel

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            guard let options = context.channel.syncOptions else { return }
            try? options.setOption(.autoRead, value: false)
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(100)) {
                try? options.setOption(.autoRead, value: true)
            }
        }
    }

    extension Channel {
        /// Keeps the socket from child processes.
        fileprivate func closeOnExecute() throws {
            try pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { handle in
                _ = fcntl(handle, F_SETFD, FD_CLOEXEC)
            }
        }
    }

    /// Runs tasks on the server's loop: it answers also while code of users occupies all threads of Swift's pool.
    final class HTTPExecutor: TaskExecutor {
        private let loop: any EventLoop

        init(_ loop: any EventLoop) { self.loop = loop }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    /// The open connections of a server. Used on its loop only.
    final class HTTPRegistry {
        let limits: HTTPLimits
        private let loop: any EventLoop
        let executor: HTTPExecutor
        let permitsHost: (String) -> Bool
        let respond: @Sendable (HTTPRequest) async -> HTTPResponse
        private(set) var isDraining = false
        private var connections: [ObjectIdentifier: HTTPConnection] = [:]
        /// The connections that are answered by 503, and wait for the client to close.
        private var refused = 0
        /// The tasks that make answers.
        private var tasks = 0
        private var drained: EventLoopPromise<Void>?

        init(
            _ limits: HTTPLimits,
            on loop: any EventLoop,
            permitsHost: @escaping (String) -> Bool,
            respond: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
        ) {
            (self.limits, self.loop, self.permitsHost, self.respond) = (limits, loop, permitsHost, respond)
            executor = HTTPExecutor(loop)
        }

        /// Serves a new connection, or refuses it if there are too many.
        ///
        /// - Throws: if too many are being refused; then it is closed at once.
        func serve(_ channel: any Channel) throws {
            let pipeline = channel.pipeline.syncOperations
            let isOpen = !isDraining && (connections.count < limits.maxConnections || replaceIdle())
            guard isOpen else {
                guard refused < 16 else { throw ChannelError.ioOnClosedChannel }
                refused += 1
                channel.closeFuture.assumeIsolated().whenComplete { [self] _ in refused -= 1 }
                return try pipeline.addHandler(HTTPGate(nil))
            }
            let connection = HTTPConnection(channel, self)
            let gate = HTTPGate(connection)
            try pipeline.addHandler(gate)
            var decoding = NIOHTTPDecoderLimitConfiguration()
            decoding.maxHeaderFieldSize = limits.maxHeadBytes
            decoding.maxHeaderListSize = limits.maxHeadBytes
            decoding.maxHeaderFieldCount = limits.maxHeaders
            try pipeline.configureHTTPServerPipeline(
                withErrorHandling: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: decoding
            )
            try pipeline.addHandler(connection)
            connection.gate = gate
            let id = ObjectIdentifier(connection)
            connections[id] = connection
            // Retains the connection, so that no later one has its identifier.
            channel.closeFuture.assumeIsolated().whenComplete { [self] _ in
                connection.closed()
                connections[id] = nil
                endIfDrained()
            }
        }

        /// Closes the connection that has waited longest for a request.
        private func replaceIdle() -> Bool {
            let waiting = connections.values.compactMap { connection in
                connection.waitsSince.map { (connection, $0) }
            }
            guard let (longest, _) = waiting.min(by: { $0.1 < $1.1 }) else { return false }
            // The end of a channel is reported later.
            connections[ObjectIdentifier(longest)] = nil
            longest.cut()
            return true
        }

        var count: Int { connections.count }

        func taskBegan() { tasks += 1 }

        func taskEnded() {
            tasks -= 1
            endIfDrained()
        }

        private func endIfDrained() { if isDraining, connections.isEmpty, tasks == 0 { drained?.succeed() } }

        func drain(grace: TimeAmount) -> EventLoopFuture<Void> {
            isDraining = true
            let drained = loop.makePromise(of: Void.self)
            self.drained = drained
            for connection in connections.values { connection.drain() }
            endIfDrained()
            let cut = loop.assumeIsolated().scheduleTask(in: grace) { [self] in
                for connection in connections.values { connection.cut() }
            }
            return drained.futureResult.always { _ in cut.cancel() }
        }
    }
#endif
