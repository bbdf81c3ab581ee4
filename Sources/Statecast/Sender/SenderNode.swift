import Logging
import StatecastCoding
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// The shell of a sender: reports events to its machine, and performs the machine's directives.
actor SenderNode {
    /// The answer to requests for the store's schema; `nil` until it arrives.
    typealias SchemaAnswer = Monitor<Result<StoreSchema, any Error>?>

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
    /// For delays.
    private var generator = SplitMix64(seed: .random(in: .min ... .max))
    private var machine: SenderMachine
    private var receipts: PendingReceipts
    private let writer: SessionWriter?
    private var downlink: Downlink?
    private var socket: ActionSocket?
    private var resources: ResourceWatch?
    /// The answer to the next request.
    private var schema = SchemaAnswer(nil)
    private var unreadable = UnreadableMessageLog()
    private var presence: PresenceLog
    private var rejectedDispatches: RejectedDispatchLog

    private static let maxMessagesPerTurn = 512
    private static let maxFramesPerTurn = 64

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

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
        do { loop = try PollLoop(name: "statecast-sender", maxBusyPolling: configuration.maxBusyPolling) } catch {
            throw StatecastError(error)
        }
        (self.store, self.endpoint, self.configuration, self.intake) = (store, endpoint, configuration, intake)
        (self.statuses, self.termination, self.logger) = (statuses, termination, logger)
        metrics = SenderMetrics(store: store)
        receipts = PendingReceipts(from: intake, resuming: session, metrics)
        presence = PresenceLog(.sender, store, at: endpoint, hasKeys: configuration.security != nil, logger)
        rejectedDispatches = RejectedDispatchLog(store, logger)
        writer = session.map { SessionWriter($0.file) }
        let (limits, now) = (configuration.limits, clock.now)
        if let session {
            machine = SenderMachine(resuming: session.saved, limits: limits, now: now)
        } else {
            var system = SystemRandom()
            machine = SenderMachine(SessionSecret(using: &system), limits: limits, now: now)
        }
    }

    /// Gives up the actions of a sender that never ran; `stop` leaves none.
    deinit {
        var submitted: [SenderDirective] = []
        if let chunk = receipts.dequeue() { submitted = machine.submitted(chunk) }
        for directive in submitted + machine.stop(because: "the sender was released") {
            switch directive {
            case .resolve(let runs): receipts.resolve(runs)
            case .giveUp(let runs, let cause): receipts.giveUp(runs, because: cause, logger, store)
            default: break
            }
        }
    }

    // MARK: Requests

    func start() throws(StatecastError) {
        guard !machine.isStopped else { return }
        if configuration.security == nil { configuration.plaintext.warn(logger) }
        downlink = try Downlink(
            store,
            from: endpoint,
            options: .subscriber(configuration.limits, configuration.security),
            on: loop,
            logger: logger,
            onReadable: onLoop { $0.receiveAndPush() },
            onDeadline: onLoop { $0.turn() }
        )
        let reconnect = onLoop { $0.reconnect() }
        resources = ResourceWatch(
            maxMemory: configuration.maxMemory,
            on: loop,
            clock: clock,
            logger,
            peers: { [store, endpoint] in ["store": "\(store)", "from": "\(endpoint)"] },
            closeConnections: { _ in reconnect() }
        )
        intake.open(loop.makeTrigger(onLoop { $0.dequeueAndPush() }))
        let trigger = loop.makeTrigger(onLoop { $0.sessionSaved() })
        writer?.onProgress { trigger.fire() }
        perform(machine.start(at: clock.now, using: &generator))
        dequeue()
    }

    /// Closes the sockets. Actions without a receipt are rejected with the cause.
    func stop(because cause: String) {
        intake.close(because: cause)
        dequeue()
        writer?.drain()
        reportSaved()
        // What is saved can lead to outcomes, which are saved in turn.
        while case let changes = machine.save(), !changes.isEmpty {
            perform(changes)
            writer?.drain()
            reportSaved()
        }
        writer?.close()
        perform(machine.stop(because: cause))
    }

    nonisolated func shutdown() { loop.shutdown() }

    /// Reports a request to the machine, after the actions that were submitted before.
    func request(_ event: @Sendable (inout SenderMachine) -> [SenderDirective]) {
        dequeue()
        perform(event(&machine))
    }

    func requestSchema() -> SchemaAnswer {
        let answer = schema
        perform(machine.requestSchema())
        return answer
    }

    /// The caller of a request does not wait any more.
    func cancel(_ answer: SchemaAnswer) {
        if answer === schema { perform(machine.cancelSchemaRequest()) }
    }

    private func answerSchemaRequests(_ result: Result<StoreSchema, any Error>) {
        schema.change { $0 = result }
        schema = SchemaAnswer(nil)
    }

    // MARK: Events

    private nonisolated func onLoop(_ body: @escaping @Sendable (isolated SenderNode) -> Void) -> @Sendable () -> Void {
        { [weak self] in self?.assumeIsolated(body) }
    }

    /// Dequeues the submitted actions, and schedules a turn that sends them together.
    private func dequeue() {
        if let chunk = receipts.dequeue() { perform(machine.submitted(chunk)) }
        downlink?.timer.set(.now)
    }

    /// Handles deadlines after the messages that have arrived.
    private func turn() {
        receiveAndPush()
        perform(machine.tick(at: clock.now, using: &generator))
        presence.tick(at: clock.now)
        endTurn()
    }

    private func reconnect() {
        perform(machine.reconnect(at: clock.now, using: &generator))
        endTurn()
    }

    private func receiveAndPush() {
        for _ in 0..<Self.maxMessagesPerTurn {
            guard let message = downlink?.next() else { break }
            received(message)
        }
        dequeueAndPush()
    }

    private func dequeueAndPush() {
        if let chunk = receipts.dequeue(minBytes: machine.minSubmittedBytes) { perform(machine.submitted(chunk)) }
        push()
    }

    private func received(_ message: [UInt8]) {
        do {
            let (address, frame) = try Message.decode(message)
            guard address.store == store else { return }
            perform(machine.received(frame, on: address.topic, at: clock.now, using: &generator))
        } catch {
            machine.heard()
            unreadable.record(error, logger)
        }
    }

    /// Pushes at most `maxFramesPerTurn` frames. If others are left, the loop calls ``writable()`` once there is room.
    private func push() {
        perform(machine.save())
        for _ in 0..<Self.maxFramesPerTurn {
            guard let frame = machine.nextFrame else { break }
            guard let isSent = socket?.send(frame) else { return endTurn() }
            perform(
                isSent
                    ? machine.pushed(frame, at: clock.now, using: &generator)
                    : machine.blocked(at: clock.now, using: &generator)
            )
        }
        socket?.awaitsWritable = machine.awaitsWritable
        endTurn()
    }

    private func writable() {
        socket?.awaitsWritable = false
        perform(machine.writable(at: clock.now, using: &generator))
        push()
    }

    private func sessionSaved() {
        reportSaved()
        receiveAndPush()
    }

    private func reportSaved() {
        guard let progress = writer?.progress else { return }
        perform(machine.saved(progress.written, failure: progress.failure))
    }

    /// Reports the size of the outbox, and sets the timer and the size of the intake for the next turn.
    private func endTurn() {
        metrics.pending(machine.pendingCount)
        downlink?.timer.set(presence.nextDeadline(orEarlier: machine.nextDeadline).map(clock.deadline))
        intake.fireTrigger(at: machine.minSubmittedBytes)
    }

    // MARK: Directives

    /// A directive may report an event in turn: the directives of that event are performed before the remaining ones.
    private func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): downlink?.subscribe(topic)
            case .unsubscribe(let topic): downlink?.unsubscribe(topic)
            case .reconnect:
                logger.debug("the connections deliver nothing, connecting anew", metadata: ["store": "\(store)"])
                socket = nil
                downlink?.reconnect()
            case .connect(let endpoint):
                perform(machine.connected(connect(to: endpoint), at: clock.now, using: &generator))
            case .save(let change): writer?.write(change)
            case .resolve(let runs):
                receipts.resolve(runs)
                for rejection in receipts.takeRejectedDispatches() { rejectedDispatches.rejected(rejection) }
            case .giveUp(let runs, let cause): receipts.giveUp(runs, because: cause, logger, store)
            case .reuse(let buffer): intake.reuse(buffer)
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                presence.changed(to: status.presence, at: clock.now)
                statuses.send(status)
            case .count(let event): metrics.count(event)
            case .answerSchema(let answer): answerSchemaRequests(answer.mapError { $0 })
            case .fail(let cause):
                logger.error("cannot send: \(cause)", metadata: ["store": "\(store)"])
                stop(because: cause)
                termination.end(StatecastError(.session, cause))
            case .close(let cause):
                (downlink, socket, resources) = (nil, nil, nil)
                answerSchemaRequests(.failure(StatecastError(.closed, cause)))
            }
        }
    }

    private func connect(to advertised: String) -> Result<String, Rejection> {
        socket = nil
        do throws(Rejection) {
            let writable = onLoop { $0.writable() }
            let new = try ActionSocket(store, to: advertised, of: endpoint, configuration, on: loop, logger, writable)
            socket = new
            return .success(new.endpoint)
        } catch { return .failure(error) }
    }
}
