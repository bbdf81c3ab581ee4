internal import Logging
internal import SyncProtocol
internal import ZeroMQ

/// The socket side of a replica: a SUB, the machine that decides, and the queue to the document.
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
    private var generator = SystemRandomNumberGenerator()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var machine: ReplicaMachine
    private var downlink: Downlink?
    private var isStopped = false
    private var unreadable = UnreadableMessages()

    private static let messagesPerTurnMax = 512

    init(
        store: StoreName,
        endpoint: Endpoint,
        configuration: ReplicaConfiguration,
        queue: DocumentQueue,
        lag: ReplicaLag,
        primaryTime: PrimaryTime,
        logger: Logger
    ) throws {
        do { loop = try PollLoop(name: "statecast-replica") } catch { throw StatecastError(error) }
        self.store = store
        self.endpoint = endpoint
        self.configuration = configuration
        self.queue = queue
        self.lag = lag
        self.primaryTime = primaryTime
        self.logger = logger
        metrics = ReplicaMetrics(store: store)
        machine = ReplicaMachine(limits: configuration.limits, now: clock.now)
    }

    nonisolated func shutdown() { loop.shutdown() }

    func start() throws {
        guard !isStopped else { return }
        var options = SocketOptions.subscriber(configuration.limits)
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
        perform(machine.start(at: clock.now, using: &generator))
        setTimer()
    }

    func stop() {
        isStopped = true
        downlink = nil
    }

    // MARK: Events

    private func drain() {
        guard let downlink else { return }
        for _ in 0..<Self.messagesPerTurnMax {
            guard !queue.isFull(bytesMax: configuration.limits.backlogBytesMax) else {
                // The document is behind. Messages wait in libzmq, and where that is full they are lost and made up for.
                downlink.watch.wantsReadable = false
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
            lag.heard(frame)
            perform(machine.received(frame, on: address.topic, at: clock.now, using: &generator))
        } catch {
            metrics.malformed()
            unreadable.note(error, logger)
        }
    }

    /// Behind the sockets in each turn, so what has arrived is known before time is judged.
    private func tick() {
        drain()
        perform(machine.tick(at: clock.now, using: &generator))
        setTimer()
    }

    /// The document took everything up to a point.
    func documentCaughtUp() { downlink?.watch.wantsReadable = true }

    /// The document could not take a step.
    func documentFailed(_ failure: DocumentFailure) {
        logger.warning("starting over", metadata: ["store": "\(store)", "reason": "\(failure.reason.message)"])
        perform(machine.failed(at: failure.position, failure.reason, now: clock.now, using: &generator))
        setTimer()
    }

    /// The document has the primary's digest.
    func documentConfirmed(at position: Position) { machine.confirmed(at: position) }

    // MARK: Directives

    private func perform(_ directives: [ReplicaDirective]) {
        for directive in directives {
            switch directive {
            case .subscribe(let topic): downlink?.subscribe(topic)
            case .unsubscribe(let topic): downlink?.unsubscribe(topic)
            case .install(let snapshot, let position, let digest):
                queue.append(.install(snapshot: snapshot, position, digest: digest))
            case .apply(let patch, let position):
                metrics.applied(bytes: patch.count)
                queue.append(.apply(patch: patch, position))
            case .verify(let position, let digest): queue.append(.verify(position, digest: digest))
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                queue.append(.status(status))
            case .time(let time): primaryTime.heard(time)
            case .count(let event): metrics.count(event)
            }
        }
    }

    private func setTimer() { downlink?.timer.set(machine.nextDeadline.map(clock.deadline)) }
}
