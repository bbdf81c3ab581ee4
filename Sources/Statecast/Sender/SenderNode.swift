internal import Logging
internal import StateCoding
internal import SyncProtocol
internal import Threading
internal import ZeroMQ

/// A request for the store's schema.
final class SchemaRequest: Sendable {
    let result = Monitor<Result<StoreSchema, any Error>?>(nil)
}

/// The socket side of a sender: a SUB for answers, a PUSH for actions, and the state machine.
actor SenderNode {
    private let loop: PollLoop
    private let store: StoreName
    private let endpoint: Endpoint
    private let configuration: SenderConfiguration
    private let intake: SenderIntake
    private let statuses: Broadcast<SenderStatus>
    private let termination: Termination
    private let metrics: SenderMetrics
    private let logger: Logger
    private let clock = NodeClock()
    private var generator = SystemRandom()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var machine: SenderMachine
    private var saver: SessionSaver?
    private let writer: SessionWriter?
    private var downlink: Downlink?
    private var push: Push?
    private var receipts: OpenReceipts
    /// The memory of pushed frames.
    private var frameWriter = CBORWriter()
    private var schemaRequests: [SchemaRequest] = []
    private var isStopped = false
    private var unreadable = UnreadableMessageLog()

    private final class Push {
        let socket: Socket
        let watch: Watch
        let endpoint: String
        /// Whether a send found no connection; nothing is sent until there is one.
        var isBlocked = false
        /// Whether the socket has had a connection before.
        var wasConnected = false

        init(socket: consuming Socket, watch: Watch, endpoint: String) {
            self.socket = socket
            self.watch = watch
            self.endpoint = endpoint
        }
    }

    private static let messagesPerTurnMax = 512
    private static let framesPerTurnMax = 64
    /// More than the length of any host name and port, or path of a socket.
    private static let endpointBytesMax = 512

    init(
        store: StoreName,
        endpoint: Endpoint,
        configuration: SenderConfiguration,
        intake: SenderIntake,
        session: ResumedSession?,
        statuses: Broadcast<SenderStatus>,
        termination: Termination,
        logger: Logger
    ) throws(StatecastError) {
        do { loop = try PollLoop(name: "statecast-sender") } catch { throw StatecastError(error) }
        self.store = store
        self.endpoint = endpoint
        self.configuration = configuration
        self.intake = intake
        self.statuses = statuses
        self.termination = termination
        self.logger = logger
        metrics = SenderMetrics(store: store)
        let (limits, now) = (configuration.limits, clock.now)
        if let session {
            machine = SenderMachine(resuming: session.saved, limits: limits, now: now)
        } else {
            machine = SenderMachine(session: SessionID(using: &generator), limits: limits, now: now)
        }
        saver = session.map { SessionSaver($0.saved) }
        writer = session.map { SessionWriter($0.file) }
        receipts = session.map(OpenReceipts.init(resuming:)) ?? OpenReceipts()
    }

    /// Gives up the actions of a sender that never ran; `stop` leaves none.
    deinit {
        if let actions = intake.drain() { receipts.add(actions) }
        var dispatched = 0
        for range in receipts.unresolved {
            for (part, code) in range.split(after: saver?.last, .kept, .notSent) {
                let end = code == .kept ? "the session file keeps the action" : "the action was not sent"
                let reason = Rejection(code, "the sender was released before it ran; \(end)")
                let run = ResolvedRun(part.lowerBound, count: part.count, sent: nil, .rejected(reason))
                for resolved in receipts.resolve(run) { dispatched += resolved.run.count - resolved.awaited }
            }
        }
        guard dispatched > 0 else { return }
        logger.warning(
            "actions given up: the sender was released before it ran",
            metadata: ["store": "\(store)", "not-sent": "\(dispatched)"]
        )
    }

    nonisolated func shutdown() { loop.shutdown() }

    func start() throws(StatecastError) {
        guard !isStopped else { return }
        downlink = try Downlink(
            store,
            from: endpoint,
            options: .subscriber(configuration.limits),
            on: loop,
            logger: logger,
            onReadable: { [weak self] in self?.assumeIsolated { $0.drain() } },
            onDeadline: { [weak self] in self?.assumeIsolated { $0.turn() } }
        )
        intake.open(loop.doorbell { [weak self] in self?.assumeIsolated { $0.actionsArrived() } })
        if let writer {
            let bell = loop.doorbell { [weak self] in self?.assumeIsolated { $0.writerProgressed() } }
            writer.onProgress { bell.ring() }
        }
        perform(machine.start(at: clock.now, using: &generator))
        for _ in schemaRequests { downlink?.subscribe(.schema) }
        save()
        setTimer()
        dequeueActions()
    }

    /// Closes the sockets. Actions without a receipt are rejected with the cause.
    func stop(because cause: String) {
        isStopped = true
        intake.close(because: cause)
        dequeueActions()
        downlink = nil
        push = nil
        closeFile()
        giveUpAll(because: cause)
        resolveSchemaRequests(.failure(StatecastError(.closed, cause)))
    }

    // MARK: Actions

    /// Dequeues the submitted actions, and schedules a turn that sends them together.
    private func dequeueActions(bytesMin: Int = 1) {
        dequeue(bytesMin: bytesMin)
        downlink?.timer.set(.now)
    }

    private func dequeue(bytesMin: Int) {
        guard let actions = intake.drain(bytesMin: bytesMin) else { return }
        receipts.add(actions)
        if saver != nil { saver?.enqueue(actions.chunk) } else { perform(machine.enqueue(actions.chunk)) }
        for verdict in actions.chunk.verdicts {
            resolve(ResolvedRun(verdict.ticket, sent: nil, .rejected(verdict.rejection)))
        }
    }

    /// The bell of the intake has rung. While receipts are awaited, a small chunk would make a small frame: it waits.
    private func actionsArrived() {
        let canWait = saver == nil && machine.awaitsReceipts
        dequeueActions(bytesMin: canWait ? configuration.limits.frameBytesMin : 1)
    }

    /// Gives up all actions, and logs the number of those that no caller awaits.
    private func giveUpAll(because cause: String) {
        var counts: [Rejection.Code: Int] = [:]
        func giveUp(_ run: ResolvedRun) {
            for resolved in resolve(run) {
                guard let code = resolved.run.code else { continue }
                counts[code, default: 0] += resolved.run.count - resolved.awaited
            }
        }
        if saver == nil {
            for case .resolve(let run) in machine.withdrawAll(because: cause, notSent: Self.notSent(because: cause)) {
                giveUp(run)
            }
        }
        for range in receipts.unresolved {
            for (part, code) in range.split(after: saver?.last, .kept, .notSent) {
                let reason = code == .kept ? Self.kept(because: cause) : Self.notSent(because: cause)
                giveUp(ResolvedRun(part.lowerBound, count: part.count, sent: nil, .rejected(reason)))
            }
        }
        let (notSent, unknown) = (counts[.notSent, default: 0], counts[.outcomeUnknown, default: 0])
        guard notSent + unknown > 0 else { return }
        logger.warning(
            "actions given up: \(cause)",
            metadata: ["store": "\(store)", "not-sent": "\(notSent)", "outcome-unknown": "\(unknown)"]
        )
    }

    /// Resolves an action whose outcome is not awaited any more.
    func giveUp(_ ticket: Ticket, because cause: String) {
        guard !isStopped else { return }
        dequeueActions()
        guard receipts.isOpen(ticket) else { return }
        if saver != nil {
            // Actions that are not written to the file yet are kept, too, unless the write fails.
            resolve(ResolvedRun(ticket, sent: nil, .rejected(Self.kept(because: cause))))
        } else if let sent = machine.withdraw(ticket) {
            resolve(ResolvedRun(ticket, sent: sent, .unknown(because: cause)))
        } else {
            resolve(ResolvedRun(ticket, sent: nil, .rejected(Self.notSent(because: cause))))
        }
    }

    private static func kept(because cause: String) -> Rejection {
        Rejection(.kept, "\(cause); the session file keeps the action, which goes on when its sender does")
    }

    private static func notSent(because cause: String) -> Rejection {
        Rejection(.notSent, "\(cause) before the action was sent; it will not be applied")
    }

    /// Requests the store's schema.
    func requestSchema() throws -> SchemaRequest {
        guard !isStopped else { throw StatecastError(.closed, "the sender was closed") }
        let request = SchemaRequest()
        schemaRequests.append(request)
        downlink?.subscribe(.schema)
        return request
    }

    func cancel(_ request: SchemaRequest) {
        guard let index = schemaRequests.firstIndex(where: { $0 === request }) else { return }
        schemaRequests.remove(at: index)
        downlink?.unsubscribe(.schema)
    }

    private func resolveSchemaRequests(_ result: Result<StoreSchema, any Error>) {
        for request in schemaRequests {
            // Each request has subscribed.
            downlink?.unsubscribe(.schema)
            request.result.change { $0 = result }
        }
        schemaRequests = []
    }

    // MARK: Events

    private func drain() {
        guard let downlink else { return }
        for _ in 0..<Self.messagesPerTurnMax {
            guard let message = downlink.next() else { break }
            received(message)
        }
        // What waited for receipts is due if they have arrived.
        if !machine.awaitsReceipts || machine.isPrompted { dequeue(bytesMin: 1) }
        flush()
        setTimer()
    }

    private func received(_ message: [UInt8]) {
        do {
            let (address, frame) = try Message.decode(message)
            guard address.store == store else { return }
            if case .schema = address.topic { return received(schema: frame) }
            perform(machine.received(frame, on: address.topic, at: clock.now, using: &generator))
        } catch {
            unreadable.record(error, logger)
        }
    }

    private func received(schema frame: Frame) {
        switch frame {
        case .schema(let schema): resolveSchemaRequests(.success(schema))
        case .refusal(let refusal): resolveSchemaRequests(.failure(refusal.reason))
        default: resolveSchemaRequests(.failure(Rejection(.malformed, "the primary answered with another frame")))
        }
    }

    /// Ends a turn: sends submitted actions, and judges deadlines after the messages that have arrived.
    private func turn() {
        drain()
        perform(machine.tick(at: clock.now, using: &generator))
        setTimer()
    }

    /// Pushes frames within the window, and at most `framesPerTurnMax`.
    private func flush() {
        save()
        guard let push, !push.isBlocked, saver?.mayPush ?? true else { return }
        for _ in 0..<Self.framesPerTurnMax {
            guard let frame = machine.nextCut else { break }
            do throws(ZeroMQError) {
                guard try send(frame, through: push.socket) else {
                    push.isBlocked = true
                    push.watch.wantsWritable = true
                    statuses.send(.unreachable(push.endpoint))
                    return
                }
                push.wasConnected = true
            } catch {
                logger.error("cannot push", metadata: ["error": "\(error)"])
                return
            }
            perform(machine.pushed(frame, at: clock.now, using: &generator))
        }
        // Continues in the next turn if frames are left.
        push.watch.wantsWritable = machine.nextCut != nil
    }

    /// - Returns: `false` if there is no connection.
    private func send(_ frame: FrameCut, through socket: borrowing Socket) throws(ZeroMQError) -> Bool {
        frameWriter.removeAll()
        frameWriter.encoded(Address(store, .actions).bytes)
        frame.write(to: &frameWriter)
        return try frameWriter.withBytes { bytes throws(ZeroMQError) in
            try socket.send(UnsafeRawBufferPointer(bytes))
        }
    }

    /// There is a connection, or frames are left from the last turn.
    private func writable() {
        guard let push else { return }
        push.watch.wantsWritable = false
        if push.isBlocked && push.wasConnected {
            perform(machine.reconnected(at: clock.now, using: &generator))
        }
        if push.isBlocked { statuses.send(machine.status) }
        push.isBlocked = false
        flush()
        setTimer()
    }

    // MARK: Session file

    /// Writes the changes since the last call to the session file.
    private func save() {
        if let change = saver?.flush(machine.standing) { writer?.write(change) }
    }

    /// The writer has written changes, or has failed.
    private func writerProgressed() {
        guard !isStopped, let writer else { return }
        processWritten(writer.progress.written)
        if let failure = writer.progress.failure { return fail(failure) }
        drain()
    }

    private func processWritten(_ count: Int) {
        guard let (chunks, standing) = saver?.written(count) else { return }
        for chunk in chunks { perform(machine.enqueue(chunk)) }
        if let standing { machine.saved(standing) }
    }

    /// Stops, since actions that cannot be saved must not be sent.
    private func fail(_ failure: StatecastError) {
        logger.error("cannot send: \(failure)", metadata: ["store": "\(store)"])
        statuses.send(.refused(Rejection(.stopped, failure.message)))
        stop(because: failure.message)
        termination.end(failure)
    }

    /// The caller has processed the outcomes up to this one.
    func acknowledge(upTo ticket: Ticket) {
        guard !isStopped else { return }
        saver?.acknowledge(upTo: ticket)
        save()
    }

    /// The caller has submitted all of its input.
    func finishInput(at mark: InputMark) {
        guard !isStopped else { return }
        dequeueActions()
        saver?.endInput(at: mark)
        save()
    }

    private func closeFile() {
        guard let writer else { return }
        save()
        writer.close()
        processWritten(writer.progress.written)
    }

    // MARK: Directives

    private func perform(_ directives: [SenderDirective]) {
        var refusal: Rejection?
        for directive in directives {
            switch directive {
            case .subscribe(let topic): downlink?.subscribe(topic)
            case .unsubscribe(let topic): downlink?.unsubscribe(topic)
            case .connect(let endpoint): refusal = connect(endpoint)
            case .resolve(let run):
                saver?.resolve(run)
                resolve(run)
            case .reuse(let buffer): if saver == nil { intake.reuse(buffer) }
            case .status(.open) where refusal != nil: break
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                statuses.send(status)
            case .count(let event): metrics.count(event)
            }
        }
        if let refusal { perform(machine.refused(endpoint: refusal, at: clock.now, using: &generator)) }
    }

    /// Reports outcomes to those who wait for them.
    ///
    /// - Returns: the actions that had no outcome before.
    @discardableResult
    private func resolve(_ run: ResolvedRun) -> [OpenReceipts.Resolved] {
        let resolved = receipts.resolve(run)
        for part in resolved {
            switch part.run.code {
            case nil: metrics.applied(part.run.count)
            case .kept?: break
            case let code?: metrics.rejected(code, part.run.count)
            }
        }
        intake.release(resolved.reduce(0) { $0 + $1.awaited })
        return resolved
    }

    /// Connects to the announced endpoint.
    ///
    /// - Returns: why it is refused, if it is.
    private func connect(_ advertised: String) -> Rejection? {
        push = nil
        do {
            let target = try target(advertised)
            let socket = try Socket(.push, options: .pusher(configuration.limits))
            try socket.connect(target)
            let watch = loop.watch(socket) {
            } onWritable: { [weak self] in
                self?.assumeIsolated { $0.writable() }
            }
            push = Push(socket: socket, watch: watch, endpoint: target.description)
            return nil
        } catch {
            let endpoint = advertised.utf8.text(truncatedTo: Self.endpointBytesMax) ?? advertised
            let reason = "the primary accepts actions at \(endpoint), to which this sender does not connect: \(error)"
            logger.error("cannot push actions", metadata: ["store": "\(store)", "error": "\(reason)"])
            return Rejection(.endpointRefused, reason)
        }
    }

    /// The endpoint for actions: the configured or the announced one, with the reached host in place of a wildcard.
    private func target(_ advertised: String) throws -> Endpoint {
        if let own = configuration.actions {
            return try EndpointPolicy.connectable(own, configuration.plaintext)
        }
        guard advertised.utf8.count <= Self.endpointBytesMax else {
            throw StatecastError(.endpoint, "an endpoint has at most \(Self.endpointBytesMax) bytes")
        }
        do {
            var target = try Endpoint(advertised)
            if target.isWildcardHost, let host = endpoint.host { target = target.replacingHost(with: host) }
            return try EndpointPolicy.connectable(target.description, configuration.plaintext)
        } catch let error as ZeroMQError {
            throw StatecastError(error)
        }
    }

    private func setTimer() {
        metrics.pending(machine.pendingCount)
        downlink?.timer.set(machine.nextDeadline.map(clock.deadline))
    }
}

extension Range<Ticket> {
    /// The parts up to a ticket and after it, each with its code.
    fileprivate func split(
        after last: Ticket?,
        _ before: Rejection.Code,
        _ after: Rejection.Code
    ) -> [(part: Range<Ticket>, code: Rejection.Code)] {
        let middle = Swift.min(Swift.max(last?.next ?? lowerBound, lowerBound), upperBound)
        return [(lowerBound..<middle, before), (middle..<upperBound, after)].filter { !$0.0.isEmpty }
    }
}
