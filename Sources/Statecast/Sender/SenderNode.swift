import Logging
import Metrics
import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// The lifecycle of a sender: runs its driver on a loop, with a SUB and a PUSH, until it is stopped.
actor SenderNode {
    private let loop: PollLoop
    private let store: StoreName
    private let endpoints: [Endpoint]
    private let configuration: SenderConfiguration
    private let logger: Logger
    private let clock = NodeClock()
    private let driver: SenderDriver
    private let report: @Sendable () -> NodeReport
    private nonisolated let outbox = Locked(0)

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        store: StoreName,
        endpoints: [Endpoint],
        configuration: SenderConfiguration,
        intake: SenderIntake,
        session: ResumedSession?,
        continuing continued: ContinuedSession?,
        statuses: Broadcast<SenderStatus>,
        termination: Termination,
        logger: Logger
    ) throws(StatecastError) {
        do { loop = try PollLoop(name: "statecast-sender", maxBusyPolling: configuration.maxBusyPolling) } catch {
            throw StatecastError(error)
        }
        (self.store, self.endpoints, self.configuration, self.logger) = (store, endpoints, configuration, logger)
        report = { [outbox] in
            let status = statuses.latest ?? .connecting
            let gauges = [
                NodeMetric.senderOpen: status == .open ? 1.0 : 0, .senderOutboxActions: Double(outbox.withLock(\.self)),
            ]
            return NodeReport(StoreHealth(store: store, gauges: gauges), status)
        }
        driver = SenderDriver(
            store,
            from: endpoints.map(\.description).joined(separator: ","),
            hasKeys: configuration.security != nil,
            limits: configuration.limits,
            environment: ThreadedEnvironment(clock: clock),
            intake: intake,
            session: session,
            continuing: continued,
            statuses: statuses,
            logger: logger,
            onFailure: { termination.end($0) }
        )
    }

    func start() throws(StatecastError) {
        guard !driver.machine.isStopped else { return }
        if configuration.security == nil { configuration.plaintext.warn(logger) }
        let downlink = try Downlink(
            store,
            from: endpoints,
            options: .subscriber(configuration.limits, configuration.security),
            maxMemory: configuration.maxMemory,
            on: loop,
            clock,
            logger,
            onReadable: { [weak driver] in driver?.drain() },
            onDeadline: { [weak driver] in driver?.tick() },
            sample: { [weak driver, outbox, report] in
                outbox.withLock { $0 = driver?.machine.pendingCount ?? 0 }
                report().recordGauges()
            },
            onMemoryLimit: { [weak driver] in driver?.reconnect() }
        )
        let socket = ActionSocket(store, of: endpoints, configuration, on: loop, logger) { [weak driver] in
            driver?.writable()
        }
        let submission = loop.makeTrigger { [weak driver] in driver?.submitted() }
        let save = loop.makeTrigger { [weak driver] in driver?.sessionSaved() }
        driver.start(
            on: downlink,
            pushingOn: socket,
            onSubmission: { submission.fire() },
            onSave: { save.fire() }
        )
    }

    nonisolated var health: NodeHealth { NodeHealth(on: loop, report: report) }

    nonisolated func shutdown() { loop.shutdown() }

    func stop(because cause: String) {
        driver.stop(because: cause)
        let dimensions = [("store", store.text)]
        NodeMetric.senderOpen.gauge(dimensions).record(0)
        NodeMetric.senderOutboxActions.gauge(dimensions).record(driver.machine.pendingCount)
    }

    func perform<Result: Sendable>(_ body: @Sendable (SenderDriver) -> Result) -> Result { body(driver) }
}
