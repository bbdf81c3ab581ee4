internal import Logging
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
    private var pending: [Ticket: PendingReceipt]
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
        pending = session?.pending ?? [:]
    }

    /// Gives up the actions of a sender that never ran; `stop` leaves none.
    deinit {
        let waiting = pending.values + intake.dequeueAll().map(\.receipt)
        for receipt in waiting { receipt.resolve(.notSent(Self.releasedEarly(.notSent))) }
        guard waiting.contains(where: { !$0.isAwaited }) else { return }
        logger.warning(
            "actions given up: the sender was released before it ran",
            metadata: ["store": "\(store)", "not-sent": "\(waiting.count)"]
        )
    }

    /// The outcome of actions that wait when a sender is released that never ran.
    static func releasedEarly(_ code: Rejection.Code) -> Rejection {
        let end = code == .kept ? "the session file keeps the action" : "the action was not sent"
        return Rejection(code, "the sender was released before it ran; \(end)")
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
        intake.open(loop.doorbell { [weak self] in self?.assumeIsolated { $0.dequeueActions() } })
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

    /// Dequeues the submitted actions. They are sent at the end of this turn, so that they share frames.
    private func dequeueActions() {
        let actions = intake.dequeueAll()
        for action in actions { pending[action.ticket] = action.receipt }
        for action in actions {
            saver?.enqueue(action.saved, mark: action.submission.mark)
            if let verdict = action.submission.verdict {
                resolve(action.ticket, nil, .rejected(verdict))
            } else if saver == nil {
                perform(machine.enqueue(action.submission.bytes, as: action.ticket))
            }
        }
        downlink?.timer.set(.now)
    }

    /// Gives up all actions, and logs the number of those that no caller awaits.
    private func giveUpAll(because cause: String) {
        var (notSent, unknown) = (0, 0)
        for (ticket, receipt) in pending.sorted(by: { $0.key < $1.key }) {
            let code = giveUp(ticket, because: cause)
            guard !receipt.isAwaited else { continue }
            if code == .notSent { notSent += 1 }
            if code == .outcomeUnknown { unknown += 1 }
        }
        guard notSent + unknown > 0 else { return }
        logger.warning(
            "actions given up: \(cause)",
            metadata: ["store": "\(store)", "not-sent": "\(notSent)", "outcome-unknown": "\(unknown)"]
        )
    }

    /// Resolves an action whose outcome is not awaited any more.
    ///
    /// - Returns: the code of its rejection.
    @discardableResult
    func giveUp(_ ticket: Ticket, because cause: String) -> Rejection.Code? {
        if !isStopped { dequeueActions() }
        guard let receipt = pending.removeValue(forKey: ticket) else { return nil }
        let outcome = outcomeOfGivingUp(ticket, because: cause)
        receipt.resolve(outcome)
        intake.release(receipt)
        guard case .failure(let reason) = outcome.result else { return nil }
        if reason.code != .kept { metrics.rejected(reason.code) }
        return reason.code
    }

    private func outcomeOfGivingUp(_ ticket: Ticket, because cause: String) -> ActionOutcome {
        // Actions that are not written to the file yet are kept, too, unless the write fails.
        if let saver, ticket <= saver.last || !isStopped {
            let reason = "\(cause); the session file keeps the action, which goes on when its sender does"
            return .notSent(Rejection(.kept, reason))
        }
        guard saver == nil, let sent = machine.withdraw(ticket) else {
            return .notSent(Rejection(.notSent, "\(cause) before the action was sent; it will not be applied"))
        }
        let reason = "\(cause); action \(sent.number) of session \(sent.session) may or may not have been applied"
        return ActionOutcome(sent, .rejected(Rejection(.outcomeUnknown, reason)))
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
            guard let frame = machine.nextFrame else { break }
            do throws(ZeroMQError) {
                guard try push.socket.send(Message.encode(.actions(frame), to: Address(store, .actions))) else {
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
        push.watch.wantsWritable = machine.nextFrame != nil
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
        guard let (actions, standing) = saver?.written(count) else { return }
        for action in actions { perform(machine.enqueue(action.bytes, as: action.ticket)) }
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
            case .resolve(let ticket, let sent, let resolution):
                saver?.resolve(ticket, sent, resolution)
                resolve(ticket, sent, resolution)
            case .status(.open) where refusal != nil: break
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                statuses.send(status)
            case .count(let event): metrics.count(event)
            }
        }
        if let refusal { perform(machine.refused(endpoint: refusal, at: clock.now, using: &generator)) }
    }

    private func resolve(_ ticket: Ticket, _ sent: SentAction?, _ resolution: Resolution) {
        guard let receipt = pending.removeValue(forKey: ticket) else { return }
        switch resolution {
        case .applied: metrics.applied()
        case .rejected(let rejection): metrics.rejected(rejection.code)
        }
        receipt.resolve(ActionOutcome(sent, resolution))
        intake.release(receipt)
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
