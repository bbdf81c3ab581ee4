public import Logging
public import ServiceLifecycle
import StatecastCoding
public import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// Follows one store of a primary and shows its state.
///
/// ```swift
/// try await withReplica(Replica<Counter>(store: "counter", from: "tcp://127.0.0.1:7100")) { replica in
///     for await snapshot in replica.snapshots {
///         print(snapshot.revision, snapshot.state)
///     }
/// }
/// ```
///
/// ``run()`` connects, waits for the primary if necessary, and recovers from lost messages, lost connections and
/// restarts of the primary. Observe, iterate and wait before or while it runs. When it ends, all sequences and
/// observations end.
///
/// A replica of `Value`, created with `Replica(untyped:from:)`, follows any store without knowing its types.
public final class Replica<State: Sendable>: Service, MonitoredNode {
    private let node: ReplicaNode
    private let content: any DocumentContent<State>
    private let maxBytes: Int
    private let output: ReplicaOutput
    private let pendingObservers = PendingObservers<State>()
    private let snapshotBroadcast = Broadcast<StateSnapshot<State>>()
    private let statusBroadcast = Broadcast<ReplicaStatus>(.joining, capacity: 16)
    private let waiters = PositionWaiters()
    private let termination = Termination()

    /// Creates a replica of a store, whose state is kept in `content`.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    package init(
        store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration,
        logger: Logger,
        content: any DocumentContent<State>
    ) throws(StatecastError) {
        let store = try StoreName(checking: store)
        let endpoints = try EndpointPolicy.allConnectable(
            endpoint,
            configuration.plaintext,
            isEncrypted: configuration.security != nil
        )
        self.content = content
        maxBytes = configuration.limits.maxSnapshotBytes
        output = ReplicaOutput(store)
        node = try ReplicaNode(
            store: store,
            endpoints: endpoints,
            configuration: configuration,
            output: output,
            report: { [output, statusBroadcast, snapshotBroadcast] in
                let status = statusBroadcast.latest ?? .joining
                let gauges = output.lag.gauges(isLive: status == .live)
                return NodeReport(
                    StoreHealth(store: store, position: snapshotBroadcast.latest?.position, gauges: gauges),
                    status
                )
            },
            logger: logger
        )
        RunReminder.schedule(logger) { [termination] in termination.isPending ? "replica of store \(store)" : nil }
    }

    deinit { finish(because: Self.closed) }

    // MARK: State and status

    /// The states with their positions, starting with the newest one. A slow reader skips intermediate states.
    /// Revisions rise within an epoch; a primary that lost revisions in a crash continues with a lower one in a later
    /// epoch.
    ///
    /// `states` has the same states without their positions.
    public var snapshots: some AsyncSequence<StateSnapshot<State>, Never> & Sendable { snapshotBroadcast.values() }

    /// The newest state with its position; `nil` before the first.
    public var snapshot: StateSnapshot<State>? { snapshotBroadcast.latest }

    /// The replica's statuses, starting with the current one.
    public var statuses: some AsyncSequence<ReplicaStatus, Never> & Sendable {
        statusBroadcast.values()
    }

    /// How the state relates to the primary's. The last status stays when ``run()`` has ended.
    public var status: ReplicaStatus { statusBroadcast.latest ?? .joining }

    /// The primary's wall clock: the last time that it published, plus the time since then; `nil` before the first.
    ///
    /// Use it to judge the age of anything in the state: this machine's wall clock may differ from the primary's.
    public var primaryTime: Timestamp? { output.primaryTime.now }

    /// Read by probes: whether the replica shows the present state.
    public var health: NodeHealth { node.health }

    /// Returns when this replica shows the change that a receipt confirms: read your own writes.
    ///
    /// A receipt of a history that ended before this replica showed its first state is never reached: the replica
    /// cannot know whether that history is over or still to come. Use a time limit if the primary has no journal.
    ///
    /// - Throws: ``StatecastError`` with code `other-lineage` if the replica has left the receipt's history, `closed`
    ///   if ``run()`` has ended, `endpoint` if it could not start; ``Rejection`` with code `incompatible` if the
    ///   published state does not fit the replica's types or limits; `CancellationError`.
    public func reached(_ receipt: Receipt) async throws { try await reached(receipt.position) }

    /// Returns when this replica shows a position or a later one of the same lineage; see ``reached(_:)``.
    public func reached(_ position: Position) async throws { try await waiters.wait(for: position) }

    // MARK: Lifecycle

    /// Follows the store until the task is cancelled or the service group shuts down. All sequences and observations
    /// end then.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` or `resources` if the replica cannot start; with code `closed`
    ///   if `run()` was called before.
    @concurrent public func run() async throws(StatecastError) {
        try termination.begin()
        do throws(StatecastError) { try await node.start() } catch {
            statusBroadcast.send(.refused(Rejection(.malformed, "\(error)")))
            finish(because: error)
            throw error
        }
        await withTaskExecutorPreference(node.taskExecutor) {
            await cancelWhenGracefulShutdown { await self.processSteps() }
        }
        await close()
    }

    /// Ends ``run()``.
    package func close() async {
        await node.stop()
        finish(because: Self.closed)
    }

    /// Ends all sequences, observers and waiting tasks; the first reason counts.
    private func finish(because reason: StatecastError) {
        termination.end()
        node.shutdown()
        output.queue.finish()
        pendingObservers.close()
        snapshotBroadcast.finish()
        statusBroadcast.finish()
        waiters.close(because: reason)
    }

    private static var closed: StatecastError { StatecastError(.closed, "the replica was closed") }

    // MARK: Document

    /// Shows the states that the node receives, until the task is cancelled or the queue is finished.
    ///
    /// Runs on the node's loop, which saves a switch of threads. Batches that may take long and calls of observers run
    /// off the loop, since it must go on to receive. One task processes all batches, so they keep their order.
    private func processSteps() async {
        var document = Document(content, maxBytes: maxBytes)
        var observers = ObserverSet<State>()
        var pace = DocumentPace()
        await output.queue.forEachBatch { batch in
            let isQuick = observers.isEmpty && pendingObservers.isEmpty && pace.isQuick(batch)
            let executor: (any TaskExecutor)? =
                isQuick ? nil : batch.hasSnapshot ? BackgroundTaskExecutor.shared : globalConcurrentExecutor
            await withTaskExecutorPreference(executor) {
                let (start, before) = (ContinuousClock.now, document.position)
                // On the loop, those that were requested since wait for the next batch.
                if !isQuick { pendingObservers.apply(to: &observers) }
                await process(batch, in: &document, for: &observers)
                if document.position != before { pace.showed(in: start.duration(to: .now)) }
            }
        }
    }

    /// Processes a batch of steps and shows the resulting state: one state, regardless of the number of steps.
    private func process(
        _ batch: DocumentQueue.Batch,
        in document: inout Document<State>,
        for observers: inout ObserverSet<State>
    ) async {
        guard !batch.steps.isEmpty else { return }
        output.metrics.dequeued(steps: batch.steps.count)
        let outcome = document.process(batch.steps)
        if let verification = outcome.verification {
            Threads.startInBackground { [output] in output.queue.enqueue(verification.run()) }
        }
        if let snapshot = outcome.shown {
            snapshotBroadcast.send(snapshot)
            observers.show(snapshot.state, revision: snapshot.revision.rawValue)
            waiters.shown(snapshot.position)
        }
        if let failure = outcome.failure { await node.perform { $0.documentFailed(failure) } }
        for status in outcome.statuses {
            statusBroadcast.send(status)
            if case .incompatible(let reason) = status { waiters.fail(reason) }
        }
        if let confirmed = outcome.confirmed { await node.perform { $0.documentConfirmed(at: confirmed) } }
        if let position = document.position { output.lag.shown(position) }
        if batch.wasFull { await node.perform { $0.resumeReading() } }
    }
}

extension Replica: StateSource {
    /// Calls `body` for each state that the replica shows, until the subscription is cancelled or dropped.
    ///
    /// A change leads from the state shown before to the state shown next, across any number of actions: a replica
    /// observes changes, not actions. If the replica joins another history, or starts over from a snapshot, the change
    /// starts at the state shown before, and the new revision may be the lower one.
    ///
    /// The end of ``run()`` releases `body`, after a call that is running, and ends sequences like
    /// `changes(replay:maxBuffered:)`.
    ///
    /// - Parameters:
    ///   - replay: whether `body` receives the current state first; if none exists yet, the first one.
    ///   - body: called for one change at a time, on no particular thread; states that arrive during a call are merged
    ///     into one change. It may observe and cancel.
    public func observe(
        replay: Replay = .current,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let observer = Listener(body)
        pendingObservers.insert(observer, replay: replay)
        output.queue.wake()
        // Weak, so that the callback ends with the replica even if the subscription is kept.
        return Subscription { [weak pendingObservers, weak queue = output.queue, weak observer] in
            guard let observer, observer.deactivate() else { return }
            pendingObservers?.remove(observer)
            queue?.wake()
        }
    }
}

extension Replica where State: Codable {
    /// Creates a replica of a store.
    ///
    /// - Parameters:
    ///   - store: the store's name.
    ///   - endpoint: where the primary publishes, for example `tcp://127.0.0.1:7100`; several nodes of one primary, of
    ///     which one leads at a time, are separated by commas.
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    public convenience init(
        store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration = ReplicaConfiguration(),
        logger: Logger = Logger(label: "statecast.replica")
    ) throws(StatecastError) {
        try self.init(
            store: store,
            from: endpoint,
            configuration: configuration,
            logger: logger,
            content: TypedContent<State>()
        )
    }
}

extension Replica where State: Decodable {
    /// Creates a replica of a store with a type that can only be decoded. Each state that is shown is decoded as a
    /// whole; a `Codable` type is patched in O(change).
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    public convenience init(
        store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration = ReplicaConfiguration(),
        logger: Logger = Logger(label: "statecast.replica")
    ) throws(StatecastError) {
        try self.init(
            store: store,
            from: endpoint,
            configuration: configuration,
            logger: logger,
            content: DecodedContent<State>()
        )
    }
}

extension Replica where State == Value {
    /// Creates a replica of a store whose types are unknown.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    public convenience init(
        untyped store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration = ReplicaConfiguration(),
        logger: Logger = Logger(label: "statecast.replica")
    ) throws(StatecastError) {
        try self.init(
            store: store,
            from: endpoint,
            configuration: configuration,
            logger: logger,
            content: UntypedContent()
        )
    }
}

/// A state of a replica, and its position.
public struct StateSnapshot<State: Sendable>: Sendable {
    /// The state.
    public let state: State
    /// The state's revision, and the history that it belongs to.
    public let position: Position

    /// The last change that the state contains.
    public var revision: Revision { position.revision }
    /// The incarnation of the primary that published the state.
    public var epoch: Epoch { position.epoch }
}

/// How a replica follows its primary.
public struct ReplicaConfiguration: Sendable {
    /// The name of this replica in the list of its primary's ``Peers``, whose readers see it, by default `HOST:PID`;
    /// `nil`: it is not listed. The list has at most 64 characters, and `_` instead of others than
    /// `a-z A-Z 0-9 . _ - : @`.
    public var name: String? = NodeDefaults.peerName
    /// Encrypts the connection, and pins the primary's key; `nil`: plain text.
    public var security: ClientSecurity?
    /// Where the replica may connect to without `security`.
    public var plaintext = PlaintextPolicy.thisMachine
    /// The messages that may wait in memory for this replica; further ones are lost, and the replica requests them
    /// again.
    public var receiveHighWaterMark = 1000
    /// The maximum time for which the replica's thread polls its sockets instead of sleeping, in each wait; see
    /// ``PrimaryConfiguration/maxBusyPolling``.
    public var maxBusyPolling = NodeDefaults.maxBusyPolling
    /// The most memory that the process may use before the node replaces its connection, in bytes; `nil`: no limit. See
    /// ``PrimaryConfiguration/maxMemory``.
    public var maxMemory: Int?
    /// The bounds of the protocol.
    public var limits = Limits()

    /// The standard configuration.
    public init() {}
}
