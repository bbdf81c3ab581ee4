internal import Logging
internal import SyncProtocol
internal import ZeroMQ

/// Somebody who asked for the schema.
final class Inquiry: Sendable {}

/// The socket side of a sender: a SUB for answers, a PUSH for actions, and the machine that decides.
actor SenderNode {
    private let loop: PollLoop
    private let store: StoreName
    private let endpoint: Endpoint
    private let configuration: SenderConfiguration
    private let intake: SenderIntake
    private let statuses: Broadcast<SenderStatus>
    private let metrics: SenderMetrics
    private let logger: Logger
    private let clock = NodeClock()
    private var generator = SystemRandomNumberGenerator()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    /// For tasks that only call this node.
    nonisolated let tasks: LoopTasks

    private var machine: SenderMachine
    private var saver: SessionSaver?
    private let writer: SessionWriter?
    private var downlink: Downlink?
    private var push: Push?
    private var pending: [Ticket: PendingReceipt]
    private var schemaWaiters: [ObjectIdentifier: CheckedContinuation<StoreSchema, any Error>] = [:]
    private var isStopped = false
    private var unreadable = UnreadableMessages()

    private final class Push {
        let socket: Socket
        let watch: Watch
        let endpoint: String
        /// Whether a send found nobody there; nothing is sent until somebody is.
        var isBlocked = false
        /// Whether it has had a connection before, so that the next one is a new one.
        var wasConnected = false

        init(socket: consuming Socket, watch: Watch, endpoint: String) {
            self.socket = socket
            self.watch = watch
            self.endpoint = endpoint
        }
    }

    private static let messagesPerTurnMax = 512
    private static let framesPerTurnMax = 64
    /// More than any host name and port, or path of a socket, has.
    private static let endpointBytesMax = 512

    init(
        store: StoreName,
        endpoint: Endpoint,
        configuration: SenderConfiguration,
        intake: SenderIntake,
        session: ResumedSession?,
        statuses: Broadcast<SenderStatus>,
        logger: Logger
    ) throws {
        do { loop = try PollLoop(name: "statecast-sender") } catch { throw StatecastError(error) }
        tasks = LoopTasks(on: loop)
        self.store = store
        self.endpoint = endpoint
        self.configuration = configuration
        self.intake = intake
        self.statuses = statuses
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

    nonisolated func shutdown() { loop.shutdown() }

    func start() throws {
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
        intake.open(loop.doorbell { [weak self] in self?.assumeIsolated { $0.takeIn() } })
        if let writer {
            let bell = loop.doorbell { [weak self] in self?.assumeIsolated { $0.saved() } }
            writer.onProgress { bell.ring() }
        }
        perform(machine.start(at: clock.now, using: &generator))
        for _ in schemaWaiters { downlink?.subscribe(.schema) }
        save()
        setTimer()
        takeIn()
    }

    /// Closes the sockets. Actions without a receipt end with the cause.
    func stop(because cause: String) {
        isStopped = true
        intake.close(because: cause)
        takeIn()
        downlink = nil
        push = nil
        closeFile()
        giveUpAll(because: cause)
        for waiter in schemaWaiters.values {
            waiter.resume(throwing: StatecastError(.closed, cause))
        }
        schemaWaiters = [:]
    }

    // MARK: Actions

    /// Takes over what was submitted since the last time. It leaves at the end of this turn, so that all of it shares
    /// frames.
    func takeIn() {
        let taken = intake.drain()
        for action in taken { pending[action.ticket] = action.receipt }
        for action in taken {
            saver?.enqueue(action.saved, mark: action.submission.mark)
            if let verdict = action.submission.verdict {
                close(action.ticket, nil, .rejected(verdict))
            } else if saver == nil {
                perform(machine.enqueue(action.submission.bytes, as: action.ticket))
            }
        }
        downlink?.timer.set(.now)
    }

    /// What nobody awaits, nobody would hear of but for the log.
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

    /// Nobody waits for the action any longer. Says what they were told.
    @discardableResult
    func giveUp(_ ticket: Ticket, because cause: String) -> Rejection.Code? {
        if !isStopped { takeIn() }
        guard let receipt = pending.removeValue(forKey: ticket) else { return nil }
        let outcome = givenUp(ticket, because: cause)
        receipt.settle(outcome)
        intake.settled(receipt)
        guard case .failure(let reason) = outcome.result else { return nil }
        if reason.code != .kept { metrics.rejected(reason.code) }
        return reason.code
    }

    private func givenUp(_ ticket: Ticket, because cause: String) -> ActionOutcome {
        // What is still on its way to the file goes on, too, unless that fails.
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

    /// Asks the store which actions it knows.
    func schema(_ inquiry: Inquiry) async throws -> StoreSchema {
        guard !isStopped else { throw StatecastError(.closed, "the sender was closed") }
        return try await withCheckedThrowingContinuation { continuation in
            guard !Task.isCancelled else { return continuation.resume(throwing: CancellationError()) }
            schemaWaiters[ObjectIdentifier(inquiry)] = continuation
            downlink?.subscribe(.schema)
        }
    }

    /// Whoever asked does not want to know any longer.
    func giveUp(_ inquiry: Inquiry) {
        guard let waiter = schemaWaiters.removeValue(forKey: ObjectIdentifier(inquiry)) else { return }
        downlink?.unsubscribe(.schema)
        waiter.resume(throwing: CancellationError())
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
            unreadable.note(error, logger)
        }
    }

    private func received(schema frame: Frame) {
        let waiters = schemaWaiters.values
        schemaWaiters = [:]
        for waiter in waiters {
            // Once for each: every one who asked subscribed.
            downlink?.unsubscribe(.schema)
            switch frame {
            case .schema(let schema): waiter.resume(returning: schema)
            case .refusal(let refusal): waiter.resume(throwing: refusal.reason)
            default: waiter.resume(throwing: Rejection(.malformed, "the primary answered with another frame"))
            }
        }
    }

    /// The end of a turn: what was submitted leaves, and time is judged behind what has arrived.
    private func turn() {
        drain()
        perform(machine.tick(at: clock.now, using: &generator))
        setTimer()
    }

    /// Pushes what the window allows, a bounded number of frames.
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
        // More is left than one turn pushes: go on in the next.
        push.watch.wantsWritable = machine.nextFrame != nil
    }

    /// There is a connection, or room again for what one turn could not push.
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

    /// Hands in what happened since the last time.
    private func save() {
        if let change = saver?.flush(machine.standing) { writer?.write(change) }
    }

    /// More of what was handed in is on the disk, or nothing ever will be.
    private func saved() {
        guard !isStopped, let writer else { return }
        takeSaved(writer.progress.written)
        if let failure = writer.progress.failure { return fail(failure) }
        drain()
    }

    private func takeSaved(_ count: Int) {
        guard let (actions, standing) = saver?.written(count) else { return }
        for action in actions { perform(machine.enqueue(action.bytes, as: action.ticket)) }
        if let standing { machine.saved(standing) }
    }

    /// What cannot be kept must not leave.
    private func fail(_ failure: StatecastError) {
        logger.error("cannot send: \(failure)", metadata: ["store": "\(store)"])
        statuses.send(.refused(Rejection(.stopped, failure.message)))
        stop(because: failure.message)
        statuses.finish()
    }

    /// Whoever needed the outcomes up to there has them.
    func acknowledge(upTo ticket: Ticket) {
        guard !isStopped else { return }
        saver?.acknowledge(upTo: ticket)
        save()
    }

    /// All of the input was taken.
    func inputEnded(at mark: InputMark) {
        guard !isStopped else { return }
        takeIn()
        saver?.endInput(at: mark)
        save()
    }

    private func closeFile() {
        guard let writer else { return }
        save()
        writer.close()
        takeSaved(writer.progress.written)
    }

    // MARK: Directives

    private func perform(_ directives: [SenderDirective]) {
        var refusal: Rejection?
        for directive in directives {
            switch directive {
            case .subscribe(let topic): downlink?.subscribe(topic)
            case .unsubscribe(let topic): downlink?.unsubscribe(topic)
            case .connect(let endpoint): refusal = connect(endpoint)
            case .resolve(let ticket, let sent, let settlement): settle(ticket, sent, settlement)
            case .status(.open) where refusal != nil: break
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                statuses.send(status)
            case .count(let event): metrics.count(event)
            }
        }
        if let refusal { perform(machine.refused(endpoint: refusal, at: clock.now, using: &generator)) }
    }

    private func settle(_ ticket: Ticket, _ sent: SentAction?, _ settlement: Resolution) {
        saver?.resolve(ticket, sent, settlement)
        close(ticket, sent, settlement)
    }

    /// Tells whoever waits for the action.
    private func close(_ ticket: Ticket, _ sent: SentAction?, _ settlement: Resolution) {
        guard let receipt = pending.removeValue(forKey: ticket) else { return }
        switch settlement {
        case .applied: metrics.applied()
        case .rejected(let rejection): metrics.rejected(rejection.code)
        }
        receipt.settle(ActionOutcome(sent, settlement))
        intake.settled(receipt)
    }

    /// - Returns: why there is nowhere to push to, if so.
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
            let reason = "the primary takes actions at \(endpoint), to which this sender does not connect: \(error)"
            logger.error("cannot push actions", metadata: ["store": "\(store)", "error": "\(reason)"])
            return Rejection(.endpointRefused, reason)
        }
    }

    /// Where to push: what was configured, or what the primary says; its wildcard host is the host reached.
    private func target(_ advertised: String) throws -> Endpoint {
        if let own = configuration.actions {
            return try Reachability.connectable(own, insecure: configuration.insecure)
        }
        guard advertised.utf8.count <= Self.endpointBytesMax else {
            throw StatecastError(.endpoint, "an endpoint has at most \(Self.endpointBytesMax) bytes")
        }
        do {
            var target = try Endpoint(advertised)
            if target.isWildcardHost, let host = endpoint.host { target = target.replacingHost(with: host) }
            return try Reachability.connectable(target.description, insecure: configuration.insecure)
        } catch let error as ZeroMQError {
            throw StatecastError(error)
        }
    }

    private func setTimer() {
        metrics.pending(machine.pendingCount)
        downlink?.timer.set(machine.nextDeadline.map(clock.deadline))
    }
}
