import Logging
import Metrics
import StatecastProtocol
import StatecastZeroMQ

/// The lifecycle of a replica: runs its driver on a loop, with a SUB, until it is stopped.
actor ReplicaNode {
    private let loop: PollLoop
    private let store: StoreName
    private let endpoints: [Endpoint]
    private let configuration: ReplicaConfiguration
    private let logger: Logger
    private let clock = NodeClock()
    private let driver: ReplicaDriver
    private let lag: ReplicaLag
    private let report: @Sendable () -> NodeReport
    private var isStopped = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    init(
        store: StoreName,
        endpoints: [Endpoint],
        configuration: ReplicaConfiguration,
        output: ReplicaOutput,
        report: @escaping @Sendable () -> NodeReport,
        logger: Logger
    ) throws(StatecastError) {
        do { loop = try PollLoop(name: "statecast-replica", maxBusyPolling: configuration.maxBusyPolling) } catch {
            throw StatecastError(error)
        }
        (self.store, self.endpoints, self.configuration, self.logger) = (store, endpoints, configuration, logger)
        (self.lag, self.report) = (output.lag, report)
        driver = ReplicaDriver(
            store,
            from: endpoints.map(\.description).joined(separator: ","),
            hasKeys: configuration.security != nil,
            limits: configuration.limits,
            name: store.isOfPeers ? nil : configuration.name.map { PeerName($0) },
            environment: ThreadedEnvironment(clock: clock),
            output: output,
            logger: logger
        )
    }

    /// Runs tasks on the node's loop.
    nonisolated var taskExecutor: LoopTaskExecutor { LoopTaskExecutor(on: loop) }

    nonisolated var health: NodeHealth { NodeHealth(on: loop, report: report) }

    nonisolated func shutdown() { loop.shutdown() }

    func start() throws(StatecastError) {
        guard !isStopped else { return }
        if configuration.security == nil { configuration.plaintext.warn(logger) }
        var options = SocketOptions.subscriber(configuration.limits, configuration.security)
        options.receiveHighWaterMark = configuration.receiveHighWaterMark
        let downlink = try Downlink(
            store,
            from: endpoints,
            options: options,
            maxMemory: configuration.maxMemory,
            on: loop,
            clock,
            logger,
            onReadable: { [weak driver] in driver?.drain() },
            onDeadline: { [weak driver] in driver?.tick() },
            sample: { [report, lag] in
                lag.sample(isLive: report().reasons.isEmpty)
                report().recordGauges()
            },
            onMemoryLimit: { [weak driver] in driver?.reconnect() }
        )
        driver.start(on: downlink)
    }

    func stop() {
        isStopped = true
        driver.stop()
        NodeMetric.replicaLive.gauge([("store", store.text)]).record(0)
    }

    func perform(_ body: @Sendable (ReplicaDriver) -> Void) { body(driver) }
}
