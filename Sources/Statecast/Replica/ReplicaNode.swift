internal import Logging
internal import ZeroMQ

/// The socket side of a replica: a SUB, the machine that decides, and the queue to the document.
actor ReplicaNode {
    private let loop: PollLoop
    private let store: StoreName
    private let endpoint: Endpoint
    private let configuration: ReplicaConfiguration
    private let queue: DocumentQueue
    private let primaryTime: PrimaryTime
    private let metrics: ReplicaMetrics
    private let logger: Logger
    private let clock = NodeClock()
    private var generator = SystemRandomNumberGenerator()

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private var machine: ReplicaMachine
    private var wire: Wire?

    private final class Wire {
        let subscriber: Socket
        let watch: Watch
        let timer: DeadlineTimer

        init(subscriber: consuming Socket, watch: Watch, timer: DeadlineTimer) {
            self.subscriber = subscriber
            self.watch = watch
            self.timer = timer
        }
    }

    private static let messagesPerTurnMax = 512

    init(
        store: StoreName,
        endpoint: Endpoint,
        configuration: ReplicaConfiguration,
        queue: DocumentQueue,
        primaryTime: PrimaryTime,
        logger: Logger
    ) throws {
        do { loop = try PollLoop(name: "statecast-replica") } catch { throw StatecastError(error) }
        self.store = store
        self.endpoint = endpoint
        self.configuration = configuration
        self.queue = queue
        self.primaryTime = primaryTime
        self.logger = logger
        metrics = ReplicaMetrics(store: store)
        machine = ReplicaMachine(limits: configuration.limits, now: clock.now)
    }

    nonisolated func shutdown() { loop.shutdown() }

    func start() throws {
        do {
            var options = SocketOptions.subscriber(configuration.limits)
            options.receiveHighWaterMark = configuration.receiveHighWaterMark
            let subscriber = try Socket(.sub, options: options)
            try subscriber.connect(endpoint)
            let watch = loop.watch(subscriber) { [weak self] in self?.assumeIsolated { $0.drain() } }
            let timer = loop.timer { [weak self] in self?.assumeIsolated { $0.tick() } }
            wire = Wire(subscriber: subscriber, watch: watch, timer: timer)
        } catch {
            throw StatecastError(error)
        }
        perform(machine.start(at: clock.now, using: &generator))
        setTimer()
    }

    func stop() { wire = nil }

    // MARK: Events

    private func drain() {
        guard let wire else { return }
        for _ in 0..<Self.messagesPerTurnMax {
            guard queue.bytes < configuration.limits.backlogBytesMax else {
                // The document is behind. Messages wait in libzmq, and where that is full they are lost and made up for.
                wire.watch.wantsReadable = false
                break
            }
            guard let message = receive(wire.subscriber) else { break }
            received(message)
        }
        setTimer()
    }

    private func received(_ message: [UInt8]) {
        do {
            let (address, frame) = try Message.decode(message)
            guard address.store == store else { return }
            perform(machine.received(frame, on: address.topic, at: clock.now, using: &generator))
        } catch {
            metrics.malformed()
            logger.warning("a message of the primary cannot be read", metadata: ["error": "\(error)"])
        }
    }

    private func receive(_ socket: borrowing Socket) -> [UInt8]? {
        do throws(ZeroMQError) {
            switch try socket.receive() {
            case .message(let bytes): return bytes
            case .multipart: return []
            case nil: return nil
            }
        } catch {
            logger.error("cannot receive", metadata: ["error": "\(error)"])
            return nil
        }
    }

    /// Behind the sockets in each turn, so what has arrived is known before time is judged.
    private func tick() {
        drain()
        perform(machine.tick(at: clock.now, using: &generator))
        setTimer()
    }

    /// The document took everything up to a point.
    func documentCaughtUp() { wire?.watch.wantsReadable = true }

    /// The document could not take a step.
    func documentFailed(_ failure: Document.Failure) {
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
            case .subscribe(let topic): subscribe(topic)
            case .unsubscribe(let topic): unsubscribe(topic)
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

    private func subscribe(_ topic: Topic) {
        do throws(ZeroMQError) { try wire?.subscriber.subscribe(Address(store, topic).bytes) } catch {
            logger.error("cannot subscribe", metadata: ["error": "\(error)"])
        }
    }

    private func unsubscribe(_ topic: Topic) {
        do throws(ZeroMQError) { try wire?.subscriber.unsubscribe(Address(store, topic).bytes) } catch {
            logger.error("cannot unsubscribe", metadata: ["error": "\(error)"])
        }
    }

    private func setTimer() { wire?.timer.set(machine.nextDeadline.map(clock.deadline)) }
}
