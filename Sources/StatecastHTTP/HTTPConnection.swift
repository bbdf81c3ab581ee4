#if HTTP
    package import NIOCore
    import NIOHTTP1

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #elseif canImport(Darwin)
        import Darwin
    #endif

    /// The body of a response that is written in parts.
    package struct HTTPStream: Sendable {
        private let loop: any EventLoop
        private let connection: NIOLoopBound<HTTPConnection>

        init(_ connection: HTTPConnection, on loop: any EventLoop) {
            (self.loop, self.connection) = (loop, NIOLoopBound(connection, eventLoop: loop))
        }

        /// Writes a part, one at a time.
        ///
        /// Returns when the system has taken it: a client that reads slowly holds back its own stream, and no memory.
        ///
        /// - Throws: if the client has left, or took nothing for the write timeout.
        package func write(_ bytes: ByteBuffer) async throws {
            try await loop.flatSubmit { connection.value.write(bytes) }.get()
        }
    }

    /// Answers the requests of one connection. Used on its loop only.
    final class HTTPConnection: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private enum Phase {
            case idle
            case head
            case body(HTTPRequestHead, ByteBuffer)
            /// The answer is being made or written.
            case answering
            case closing
        }

        private static let pieceBytes = 32 << 10

        weak var gate: HTTPGate?
        private let channel: any Channel
        private let registry: HTTPRegistry
        private var phase = Phase.idle { didSet { phaseBegan = .now() } }
        private var keepsOpen = true
        private var isInputEnded = false
        private var isHead = false
        private var isOldVersion = false
        private var phaseBegan = NIODeadline.now()
        /// Of the present phase, and of a write.
        private var (deadline, writeDeadline): (Scheduled<Void>?, Scheduled<Void>?)
        private var task: Task<Void, Never>?

        private var limits: HTTPLimits { registry.limits }
        private var pipeline: ChannelPipeline.SynchronousOperations { channel.pipeline.syncOperations }

        init(_ channel: any Channel, _ registry: HTTPRegistry) { (self.channel, self.registry) = (channel, registry) }

        // MARK: Events

        func channelActive(context: ChannelHandlerContext) { becomeIdle() }

        /// Since when the client has completed no request; `nil` while one is answered.
        var waitsSince: NIODeadline? {
            switch phase {
            case .idle, .head, .body: phaseBegan
            case .answering, .closing: nil
            }
        }

        func closed() {
            phase = .closing
            deadline?.cancel()
            writeDeadline?.cancel()
            task?.cancel()
        }

        /// Bytes have arrived; the head that they begin must end in time.
        func bytesArrived() {
            guard case .idle = phase else { return }
            phase = .head
            setDeadline(limits.headTimeout)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch (unwrapInboundIn(data), phase) {
            case (_, .closing): break
            case (.head(let head), _): received(head)
            case (.body(let part), .body(let head, var body)):
                guard body.readableBytes + part.readableBytes <= limits.maxBodyBytes else {
                    return refuse(.payloadTooLarge)
                }
                // The only reference, so that the bytes before are not copied.
                phase = .answering
                body.writeImmutableBuffer(part)
                phase = .body(head, body)
            case (.end, .body(let head, let body)): answer(head, body)
            default: refuse(.badRequest)
            }
        }

        private func received(_ head: HTTPRequestHead) {
            let hosts = head.headers["host"]
            guard head.version.major == 1, head.uri.first == "/", hosts.count <= 1,
                head.version.minor == 0 || !hosts.isEmpty
            else { return refuse(.badRequest) }
            if let host = hosts.first, !registry.permitsHost(Self.name(ofHost: host)) {
                return refuse(.misdirectedRequest)
            }
            let size = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
            guard size <= limits.maxBodyBytes else { return refuse(.payloadTooLarge) }
            (isHead, isOldVersion) = (head.method == .HEAD, head.version.minor == 0)
            // After a request for an upgrade the decoder reads no other one.
            keepsOpen = head.isKeepAlive && !isOldVersion && head.headers["upgrade"].isEmpty
            phase = .body(head, ByteBuffer())
            setDeadline(limits.bodyTimeout)
            let expected = head.headers[canonicalForm: "expect"]
            guard !isOldVersion, expected.contains(where: { $0.lowercased() == "100-continue" }) else { return }
            pipeline.writeAndFlush(part(.head(HTTPResponseHead(version: .http1_1, status: .continue))), promise: nil)
        }

        /// Without the port: `localhost:7180` is `localhost`, and `[::1]:7180` is `[::1]`.
        private static func name(ofHost host: String) -> String {
            let end = host.lastIndex(of: ":").flatMap { host[$0...].contains("]") ? nil : $0 }
            return host[..<(end ?? host.endIndex)].lowercased()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            // What follows the last request is not read.
            if case .closing = phase { return }
            guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
            refuse(error == .headerOverflow ? .requestHeaderFieldsTooLarge : .badRequest)
        }

        /// The client sends no more: it has left, if it follows a stream.
        func inputEnded() {
            isInputEnded = true
            if task != nil { channel.close(promise: nil) }
        }

        /// As ``inputEnded()``, after the requests before.
        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case .inputClosed? = event as? ChannelEvent else { return }
            if case .answering = phase { keepsOpen = false } else { context.close(promise: nil) }
        }

        // MARK: Answers

        private func answer(_ head: HTTPRequestHead, _ body: ByteBuffer) {
            phase = .answering
            deadline?.cancel()
            let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let request = HTTPRequest(
                method: head.method,
                path: String(parts[0]),
                query: parts.count > 1 ? String(parts[1]) : nil,
                headers: head.headers,
                body: body,
                address: channel.remoteAddress?.ipAddress ?? ""
            )
            let made = channel.eventLoop.makePromise(of: HTTPResponse.self)
            Task(executorPreference: registry.executor) { [respond = registry.respond] in
                made.succeed(await respond(request))
            }
            registry.taskBegan()
            made.futureResult.assumeIsolated().whenSuccess { [self] response in
                registry.taskEnded()
                write(response)
            }
        }

        private func write(_ response: HTTPResponse) {
            guard case .answering = phase else { return }
            var head = HTTPResponseHead(version: .http1_1, status: response.status, headers: response.headers)
            let closes = response.headers[canonicalForm: "connection"].contains { $0.lowercased() == "close" }
            keepsOpen = keepsOpen && !registry.isDraining && !closes
            if !keepsOpen { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            switch response.body {
            case .bytes(let bytes):
                head.headers.replaceOrAdd(name: "Content-Length", value: "\(bytes.readableBytes)")
                pipeline.write(part(.head(head)), promise: nil)
                // The next request waits until the client takes this answer.
                flush(.body(.byteBuffer(isHead ? ByteBuffer() : bytes))).assumeIsolated().whenSuccess { [self] in end()
                }
            case .stream(let body):
                guard !isInputEnded else { return channel.close(promise: nil) }
                // It knows no chunks, or wants none.
                guard !isOldVersion, !isHead else { return refuse(.httpVersionNotSupported) }
                pipeline.writeAndFlush(part(.head(head)), promise: nil)
                stream(body)
            }
        }

        private func stream(_ body: @escaping @Sendable (HTTPStream) async throws -> Void) {
            let stream = HTTPStream(self, on: channel.eventLoop)
            let ended = channel.eventLoop.makePromise(of: Void.self)
            task = Task(executorPreference: registry.executor) {
                do { ended.succeed(try await body(stream)) } catch { ended.fail(error) }
            }
            registry.taskBegan()
            ended.futureResult.assumeIsolated().whenComplete { [self] result in
                registry.taskEnded()
                task = nil
                guard case .answering = phase else { return }
                // An incomplete body must not look complete, except that the server stops.
                if case .failure(let error) = result, !(error is CancellationError) { return cut() }
                end()
            }
            if registry.isDraining { task?.cancel() }
        }

        /// Writes a part of a stream.
        func write(_ bytes: ByteBuffer) -> EventLoopFuture<Void> {
            guard case .answering = phase else {
                return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel)
            }
            return flush(.body(.byteBuffer(bytes)))
        }

        private func end() {
            let closes = !keepsOpen || registry.isDraining
            // Before the end is written, which lets the next request in.
            if closes { phase = .closing } else { becomeIdle() }
            flush(.end(nil)).assumeIsolated().whenSuccess { [self] in if closes { gate?.close() } }
        }

        /// Writes a long body in pieces, and cuts the connection if the system does not take the next one in time.
        private func flush(_ part: HTTPServerResponsePart) -> EventLoopFuture<Void> {
            awaitProgress()
            var last = part
            if case .body(.byteBuffer(var bytes)) = part {
                while bytes.readableBytes > Self.pieceBytes, let piece = bytes.readSlice(length: Self.pieceBytes) {
                    let written = channel.eventLoop.makePromise(of: Void.self)
                    written.futureResult.assumeIsolated().whenSuccess { [self] in awaitProgress() }
                    pipeline.write(self.part(.body(.byteBuffer(piece))), promise: written)
                }
                last = .body(.byteBuffer(bytes))
            }
            let written = channel.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { [self] _ in writeDeadline?.cancel() }
            pipeline.writeAndFlush(self.part(last), promise: written)
            return written.futureResult
        }

        private func awaitProgress() {
            writeDeadline?.cancel()
            writeDeadline = channel.eventLoop.assumeIsolated().scheduleTask(in: limits.writeTimeout) { [self] in cut() }
        }

        private func part(_ part: HTTPServerResponsePart) -> NIOAny { NIOAny(part) }

        private func refuse(_ status: HTTPResponseStatus) {
            phase = .closing
            deadline?.cancel()
            gate?.refuse(status)
        }

        // MARK: Ends

        private func becomeIdle() {
            phase = .idle
            setDeadline(limits.idleTimeout)
        }

        private func setDeadline(_ delay: TimeAmount) {
            deadline?.cancel()
            deadline = channel.eventLoop.assumeIsolated().scheduleTask(in: delay) { [channel] in
                channel.close(promise: nil)
            }
        }

        /// The server stops.
        func drain() {
            switch phase {
            case .idle, .head: channel.close(promise: nil)
            case .body, .answering, .closing: task?.cancel()
            }
        }

        /// Closes at once, and frees what the system has not sent.
        func cut() {
            _ = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            channel.close(promise: nil)
        }
    }

    /// The bytes of one connection, below the decoder: notices the first byte of a request, and closes so that the
    /// client receives the last answer. Used on its loop only.
    final class HTTPGate: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private weak var connection: HTTPConnection?
        private let isOpen: Bool
        private var context: ChannelHandlerContext?
        /// The bytes that are still read and dropped before the connection is closed; `nil`: all are passed on.
        private var remainder: Int?

        /// - Parameter connection: `nil`: it is refused.
        init(_ connection: HTTPConnection?) { (self.connection, isOpen) = (connection, connection != nil) }

        func handlerAdded(context: ChannelHandlerContext) { self.context = context }
        func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

        func channelActive(context: ChannelHandlerContext) {
            if isOpen { context.fireChannelActive() } else { refuse(.serviceUnavailable) }
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard let remainder else {
                connection?.bytesArrived()
                return context.fireChannelRead(data)
            }
            self.remainder = remainder - unwrapInboundIn(data).readableBytes
            if remainder <= 0 { context.close(promise: nil) }
        }

        /// Goes on to read what is dropped; the handlers above read no more.
        func channelReadComplete(context: ChannelHandlerContext) {
            if remainder != nil { context.read() }
            context.fireChannelReadComplete()
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            let isEnd = if case .inputClosed? = event as? ChannelEvent { true } else { false }
            if isEnd, remainder != nil { return context.close(promise: nil) }
            if isEnd { connection?.inputEnded() }
            context.fireUserInboundEventTriggered(event)
        }

        /// Answers without the encoder, and closes.
        func refuse(_ status: HTTPResponseStatus) {
            guard let context, remainder == nil else { return }
            let body = "\(status.code) \(status.reasonPhrase)\n"
            let text = """
                HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\nContent-Type: text/plain\r\nConnection: close\r\n\
                Content-Length: \(body.utf8.count)\r\n\r\n\(body)
                """
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            close()
        }

        /// Closes the output. A plain close, while input is unread, would reset the connection, and the client lose the
        /// answer: input is dropped, until the client closes, for a second and a megabyte at most.
        func close() {
            guard let context, remainder == nil else { return }
            remainder = 1 << 20
            context.close(mode: .output, promise: nil)
            context.read()
            context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(1)) { context.close(promise: nil) }
        }
    }
#endif
