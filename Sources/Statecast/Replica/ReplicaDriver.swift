package import Logging
package import StatecastProtocol
import StatecastThreading

/// The synchronous part of a replica: reports what arrives and what is due to the machine, and performs the machine's
/// directives. Used on one thread only: the loop of a node, or a simulation.
package final class ReplicaDriver {
    package private(set) var machine: ReplicaMachine
    /// Called with each directive before it is performed: how a simulation observes the replica.
    package var onDirective: ((ReplicaDirective) -> Void)?
    private let store: StoreName
    private let limits: Limits
    private let environment: any StoreEnvironment
    private let output: ReplicaOutput
    private let logger: Logger
    private var transport: (any Transport)?
    /// For the nonces of joins, and for delays.
    private var generator: EnvironmentRandom
    private var unreadable = UnreadableMessageLog()
    private var presence: PresenceLog

    private static let maxMessagesPerTurn = 512

    /// - Parameters:
    ///   - endpoint: where the primary publishes, for the log.
    ///   - hasKeys: whether the connection is encrypted, for the log.
    ///   - name: under which the replica is listed; `nil`: it is not.
    package init(
        _ store: StoreName,
        from endpoint: String,
        hasKeys: Bool,
        limits: Limits,
        name: PeerName? = nil,
        environment: any StoreEnvironment,
        output: ReplicaOutput,
        logger: Logger
    ) {
        (self.store, self.limits, self.environment) = (store, limits, environment)
        (self.output, self.logger) = (output, logger)
        generator = EnvironmentRandom(environment: environment)
        presence = PresenceLog(.replica, store, at: endpoint, hasKeys: hasKeys, logger)
        let nonce = Nonce(using: &generator)
        machine = ReplicaMachine(limits: limits, name: name, nonce: nonce, now: environment.now)
    }

    /// Begins to follow the store.
    package func start(on transport: any Transport) {
        self.transport = transport
        perform(machine.start(at: environment.now, using: &generator))
        setTimer()
    }

    package func stop() { transport = nil }

    // MARK: Events

    /// Receives the messages that have arrived.
    package func drain() {
        guard let transport else { return }
        for _ in 0..<Self.maxMessagesPerTurn {
            guard !output.queue.isFull(maxBytes: limits.maxBacklogBytes) else {
                // The document lags. Messages wait in the socket; if its queue is full, they are lost, and the replica
                // joins again.
                transport.wantsReadable = false
                machine.heard(at: environment.now)
                break
            }
            guard let message = transport.next() else { break }
            received(message)
        }
        setTimer()
    }

    private func received(_ message: [UInt8]) {
        do {
            let (address, frame) = try Message.decode(message)
            guard address.store == store else { return }
            output.lag.received(frame)
            perform(machine.received(frame, on: address.topic, at: environment.now, using: &generator))
        } catch {
            machine.heard(at: environment.now)
            output.metrics.malformed()
            unreadable.record(error, logger)
        }
    }

    /// Drains the socket first, so that deadlines are judged after the messages that have arrived.
    package func tick() {
        drain()
        perform(machine.tick(at: environment.now, using: &generator))
        presence.tick(at: environment.now)
        setTimer()
    }

    /// Replaces the connection.
    package func reconnect() {
        perform(machine.reconnect(at: environment.now, using: &generator))
        setTimer()
    }

    /// The document has room for more steps.
    package func resumeReading() { transport?.wantsReadable = true }

    /// The document could not process a step.
    package func documentFailed(_ failure: DocumentFailure) {
        logger.warning("starting over", metadata: ["store": "\(store)", "reason": "\(failure.reason.message)"])
        perform(machine.failed(at: failure.position, failure.reason, now: environment.now, using: &generator))
        setTimer()
    }

    /// The document's digest equals the primary's.
    package func documentConfirmed(at position: Position) { machine.confirmed(at: position) }

    // MARK: Directives

    private func perform(_ directives: [ReplicaDirective]) {
        for directive in directives {
            onDirective?(directive)
            switch directive {
            case .subscribe(let topic): transport?.subscribe(topic)
            case .unsubscribe(let topic): transport?.unsubscribe(topic)
            case .reconnect:
                logger.debug("the connection does not work, connecting anew", metadata: ["store": "\(store)"])
                transport?.reconnect()
            case .install(let snapshot, let position, let digest):
                output.queue.enqueue(.install(snapshot: snapshot, position, digest: digest))
            case .apply(let patch, let position):
                output.metrics.applied(bytes: patch.count)
                output.queue.enqueue(.apply(patch: patch, position))
            case .verify(let position, let digest): output.queue.enqueue(.verify(position, digest: digest))
            case .status(let status):
                logger.debug("status", metadata: ["store": "\(store)", "status": "\(status)"])
                presence.changed(to: status.presence, at: environment.now)
                output.queue.enqueue(.status(status))
            case .time(let time): output.primaryTime.received(time)
            case .count(let event): output.metrics.count(event)
            }
        }
    }

    private func setTimer() { transport?.setTimer(presence.nextDeadline(orEarlier: machine.nextDeadline)) }
}

/// What the driver of a replica reports to other threads.
package struct ReplicaOutput: Sendable {
    package let queue = DocumentQueue()
    let lag = ReplicaLag()
    let metrics: ReplicaMetrics
    let primaryTime = PrimaryTime()

    package init(_ store: StoreName) { metrics = ReplicaMetrics(store: store) }
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
