package import Logging
package import StatecastProtocol
import StatecastThreading

/// The synchronous part of a sender: reports what is submitted, what arrives and what is due to the machine, and
/// performs the machine's directives. Used on one thread only: the loop of a node, or a simulation.
package final class SenderDriver {
    /// The answer to requests for the store's schema; `nil` until it arrives.
    typealias SchemaAnswer = Monitor<Result<StoreSchema, any Error>?>

    package private(set) var machine: SenderMachine
    /// Called with each directive before it is performed: how a simulation observes the sender.
    package var onDirective: ((SenderDirective) -> Void)?
    private let store: StoreName
    private let environment: any StoreEnvironment
    private let intake: SenderIntake
    private let statuses: Broadcast<SenderStatus>
    /// Called when the sender cannot go on.
    private let onFailure: (StatecastError) -> Void
    private let metrics: SenderMetrics
    private let logger: Logger
    private let writer: SessionWriter?
    private var receipts: PendingReceipts
    private var sockets: (down: any Transport, up: any PushTransport)?
    /// For delays.
    private var generator: SplitMix64
    /// The answer to the next request.
    private var schema = SchemaAnswer(nil)
    private var unreadable = UnreadableMessageLog()
    private var presence: PresenceLog
    private var rejectedDispatches: RejectedDispatchLog

    private static let maxMessagesPerTurn = 512
    private static let maxFramesPerTurn = 64

    /// - Parameters:
    ///   - endpoint: where the primary publishes, for the log.
    ///   - hasKeys: whether the connection is encrypted, for the log.
    ///   - continued: a session that a client numbers, instead of `session`.
    package init(
        _ store: StoreName,
        from endpoint: String,
        hasKeys: Bool,
        limits: Limits,
        environment: any StoreEnvironment,
        intake: SenderIntake,
        session: ResumedSession?,
        continuing continued: ContinuedSession? = nil,
        statuses: Broadcast<SenderStatus>,
        logger: Logger,
        onFailure: @escaping (StatecastError) -> Void
    ) {
        (self.store, self.environment, self.intake) = (store, environment, intake)
        (self.statuses, self.onFailure, self.logger) = (statuses, onFailure, logger)
        metrics = SenderMetrics(store: store)
        receipts = PendingReceipts(from: intake, resuming: session, metrics)
        presence = PresenceLog(.sender, store, at: endpoint, hasKeys: hasKeys, logger)
        rejectedDispatches = RejectedDispatchLog(store, logger)
        writer = session.map { SessionWriter($0.storage, environment) }
        generator = SplitMix64(seed: environment.randomBits())
        if let continued {
            machine = SenderMachine(continuing: continued, limits: limits, now: environment.now)
        } else if let session {
            machine = SenderMachine(resuming: session.saved, limits: limits, now: environment.now)
        } else {
            var secrets = EnvironmentRandom(environment: environment)
            machine = SenderMachine(SessionSecret(using: &secrets), limits: limits, now: environment.now)
        }
    }

    /// Gives up the actions of a sender that was released without `stop`, which leaves none.
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

    /// Begins to send.
    ///
    /// - Parameters:
    ///   - onSubmission: called on any thread when enough actions were submitted, to let ``submitted()`` be called.
    ///   - onSave: called on any thread at the start and after each write, to let ``sessionSaved()`` be called.
    package func start(
        on down: any Transport,
        pushingOn up: any PushTransport,
        onSubmission: @escaping @Sendable () -> Void,
        onSave: @escaping @Sendable () -> Void
    ) {
        sockets = (down, up)
        intake.open(onSubmission)
        writer?.onProgress(onSave)
        perform(machine.start(at: environment.now, using: &generator))
        dequeue()
    }

    /// Saves what was submitted, gives up the actions without an outcome, and closes the sockets. Blocks meanwhile.
    package func stop(because cause: String) {
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

    /// Whether changes are being written to the session file.
    package var isSaving: Bool { writer?.isWriting ?? false }

    // MARK: Requests

    /// Reports a request to the machine, after the actions that were submitted before.
    package func request(_ event: (inout SenderMachine) -> [SenderDirective]) {
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

    /// Dequeues the submitted actions, and schedules a turn that sends them together.
    private func dequeue() {
        if let chunk = receipts.dequeue() { perform(machine.submitted(chunk)) }
        sockets?.down.setTimer(environment.now)
    }

    /// Handles deadlines after the messages that have arrived.
    package func tick() {
        drain()
        perform(machine.tick(at: environment.now, using: &generator))
        presence.tick(at: environment.now)
        endTurn()
    }

    /// Replaces the connections.
    package func reconnect() {
        perform(machine.reconnect(at: environment.now, using: &generator))
        endTurn()
    }

    /// Receives the messages that have arrived, and pushes what they permit.
    package func drain() {
        for _ in 0..<Self.maxMessagesPerTurn {
            guard let message = sockets?.down.next() else { break }
            received(message)
        }
        submitted()
    }

    /// Actions were submitted.
    package func submitted() {
        if let chunk = receipts.dequeue(minBytes: machine.minSubmittedBytes) { perform(machine.submitted(chunk)) }
        push()
    }

    private func received(_ message: [UInt8]) {
        do {
            let (address, frame) = try Message.decode(message)
            guard address.store == store else { return }
            perform(machine.received(frame, on: address.topic, at: environment.now, using: &generator))
        } catch {
            machine.heard()
            unreadable.record(error, logger)
        }
    }

    /// Pushes at most `maxFramesPerTurn` frames. If others are left, ``writable()`` is called once there is room.
    private func push() {
        perform(machine.save())
        for _ in 0..<Self.maxFramesPerTurn {
            guard let frame = machine.nextFrame else { break }
            guard let isSent = sockets?.up.push(frame) else { return endTurn() }
            perform(
                isSent
                    ? machine.pushed(frame, at: environment.now, using: &generator)
                    : machine.blocked(at: environment.now, using: &generator)
            )
        }
        sockets?.up.awaitsWritable = machine.awaitsWritable
        endTurn()
    }

    /// The socket for actions has a connection with room.
    package func writable() {
        sockets?.up.awaitsWritable = false
        perform(machine.writable(at: environment.now, using: &generator))
        push()
    }

    /// The session file was written.
    package func sessionSaved() {
        reportSaved()
        drain()
    }

    private func reportSaved() {
        guard let progress = writer?.progress else { return }
        perform(machine.saved(progress.written, failure: progress.failure))
    }

    /// Sets the timer and the size of the intake for the next turn.
    private func endTurn() {
        sockets?.down.setTimer(presence.nextDeadline(orEarlier: machine.nextDeadline))
        intake.fireTrigger(at: machine.minSubmittedBytes)
    }

    // MARK: Directives

    /// A directive may report an event in turn: the directives of that event are performed before the remaining ones.
    private func perform(_ directives: [SenderDirective]) {
        for directive in directives {
            onDirective?(directive)
            switch directive {
            case .subscribe(let topic): sockets?.down.subscribe(topic)
            case .unsubscribe(let topic): sockets?.down.unsubscribe(topic)
            case .reconnect:
                logger.debug("the connections deliver nothing, connecting anew", metadata: ["store": "\(store)"])
                sockets?.up.close()
                sockets?.down.reconnect()
            case .connect(let endpoint):
                guard let result = sockets?.up.connect(to: endpoint) else { continue }
                perform(machine.connected(result, at: environment.now, using: &generator))
            case .save(let change): writer?.write(change)
            case .resolve(let runs):
                receipts.resolve(runs)
                for rejection in receipts.takeRejectedDispatches() { rejectedDispatches.rejected(rejection) }
            case .giveUp(let runs, let cause): receipts.giveUp(runs, because: cause, logger, store)
            case .reuse(let buffer): intake.reuse(buffer)
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                presence.changed(to: status.presence, at: environment.now)
                statuses.send(status)
            case .count(let event): metrics.count(event)
            case .answerSchema(let answer): answerSchemaRequests(answer.mapError { $0 })
            case .fail(let cause):
                logger.error("cannot send: \(cause)", metadata: ["store": "\(store)"])
                stop(because: cause)
                onFailure(StatecastError(.session, cause))
            case .close(let cause):
                sockets = nil
                answerSchemaRequests(.failure(StatecastError(.closed, cause)))
            }
        }
    }
}
