import Logging
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// The socket side of a replica: a SUB, the state machine, and the queue to the document.
actor ReplicaNode {
    private let loop: PollLoop
    private let store: StoreName
    private let endpoint: Endpoint
    private let configuration: ReplicaConfiguration
    private let queue: DocumentQueue
    private let lag: ReplicaLag
    private let primaryTime: PrimaryTime
    private let metrics: ReplicaMetrics
    private let logger: Logger
    private let clock = NodeClock()
    private var generator = SystemRandom()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var machine: ReplicaMachine
    private var downlink: Downlink?
    private var resources: ResourceWatch?
    private var isStopped = false
    private var unreadable = UnreadableMessageLog()
    private var presence: PresenceLog

    private static let maxMessagesPerTurn = 512

    init(
        store: StoreName,
        endpoint: Endpoint,
        configuration: ReplicaConfiguration,
        queue: DocumentQueue,
        lag: ReplicaLag,
        primaryTime: PrimaryTime,
        logger: Logger
    ) throws(StatecastError) {
        do { loop = try PollLoop(name: "statecast-replica", maxBusyPolling: configuration.maxBusyPolling) } catch {
            throw StatecastError(error)
        }
        self.store = store
        self.endpoint = endpoint
        self.configuration = configuration
        self.queue = queue
        self.lag = lag
        self.primaryTime = primaryTime
        self.logger = logger
        metrics = ReplicaMetrics(store: store)
        presence = PresenceLog(.replica, store, at: endpoint, hasKeys: configuration.security != nil, logger)
        machine = ReplicaMachine(limits: configuration.limits, now: clock.now)
    }

    /// Runs tasks on the node's loop.
    nonisolated var taskExecutor: LoopTaskExecutor { LoopTaskExecutor(on: loop) }

    nonisolated func shutdown() { loop.shutdown() }

    func start() throws(StatecastError) {
        guard !isStopped else { return }
        if configuration.security == nil { configuration.plaintext.warn(logger) }
        var options = SocketOptions.subscriber(configuration.limits, configuration.security)
        options.receiveHighWaterMark = configuration.receiveHighWaterMark
        downlink = try Downlink(
            store,
            from: endpoint,
            options: options,
            on: loop,
            logger: logger,
            onReadable: { [weak self] in self?.assumeIsolated { $0.drain() } },
            onDeadline: { [weak self] in self?.assumeIsolated { $0.tick() } }
        )
        resources = ResourceWatch(
            maxMemory: configuration.maxMemory,
            on: loop,
            clock: clock,
            logger,
            peers: { [store, endpoint] in ["store": "\(store)", "from": "\(endpoint)"] },
            closeConnections: { [weak self] _ in self?.assumeIsolated { $0.reconnect() } }
        )
        perform(machine.start(at: clock.now, using: &generator))
        setTimer()
    }

    func stop() {
        isStopped = true
        (downlink, resources) = (nil, nil)
    }

    // MARK: Events

    private func drain() {
        guard let downlink else { return }
        for _ in 0..<Self.maxMessagesPerTurn {
            guard !queue.isFull(maxBytes: configuration.limits.maxBacklogBytes) else {
                // The document lags. Messages wait in libzmq; if its queue is full, they are lost, and the replica
                // joins again.
                downlink.watch.wantsReadable = false
                machine.heard(at: clock.now)
                break
            }
            guard let message = downlink.next() else { break }
            received(message)
        }
        setTimer()
    }

    private func received(_ message: [UInt8]) {
        do {
            let (address, frame) = try Message.decode(message)
            guard address.store == store else { return }
            lag.received(frame)
            perform(machine.received(frame, on: address.topic, at: clock.now, using: &generator))
        } catch {
            machine.heard(at: clock.now)
            metrics.malformed()
            unreadable.record(error, logger)
        }
    }

    /// Drains the socket first, so that deadlines are judged after the messages that have arrived.
    private func tick() {
        drain()
        perform(machine.tick(at: clock.now, using: &generator))
        presence.tick(at: clock.now)
        setTimer()
    }

    private func reconnect() {
        perform(machine.reconnect(at: clock.now, using: &generator))
        setTimer()
    }

    /// The document has room for more steps.
    func resumeReading() { downlink?.watch.wantsReadable = true }

    /// The document could not process a step.
    func documentFailed(_ failure: DocumentFailure) {
        logger.warning("starting over", metadata: ["store": "\(store)", "reason": "\(failure.reason.message)"])
        perform(machine.failed(at: failure.position, failure.reason, now: clock.now, using: &generator))
        setTimer()
    }

    /// The document's digest equals the primary's.
    func documentConfirmed(at position: Position) { machine.confirmed(at: position) }

    // MARK: Directives

    private func perform(_ directives: [ReplicaDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): downlink?.subscribe(topic)
            case .unsubscribe(let topic): downlink?.unsubscribe(topic)
            case .reconnect:
                logger.debug("the connection delivers nothing, connecting anew", metadata: ["store": "\(store)"])
                downlink?.reconnect()
            case .install(let snapshot, let position, let digest):
                queue.enqueue(.install(snapshot: snapshot, position, digest: digest))
            case .apply(let patch, let position):
                metrics.applied(bytes: patch.count)
                queue.enqueue(.apply(patch: patch, position))
            case .verify(let position, let digest): queue.enqueue(.verify(position, digest: digest))
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                presence.changed(to: status.presence, at: clock.now)
                queue.enqueue(.status(status))
            case .time(let time): primaryTime.received(time)
            case .count(let event): metrics.count(event)
            }
        }
    }

    private func setTimer() {
        downlink?.timer.set(presence.nextDeadline(orEarlier: machine.nextDeadline).map(clock.deadline))
    }
}

/// The primary's wall clock as a replica knows it: the last time received, plus the time since then on the steady
/// clock.
final class PrimaryTime: Sendable {
    private let last = Locked<(time: Timestamp, at: ContinuousClock.Instant)?>(nil)

    func received(_ time: Timestamp) { last.withLock { $0 = (time, .now) } }

    /// `nil` before the first time is received.
    var now: Timestamp? {
        last.withLock { $0 }.map { $0.time.advanced(by: $0.at.duration(to: .now)) }
    }
}
