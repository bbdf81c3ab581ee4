public import Logging
public import ServiceLifecycle
internal import StateCoding
public import SyncProtocol
internal import ZeroMQ

/// Follows one store of a primary and shows its state.
///
/// ```swift
/// let replica = try Replica<Counter>(store: "counter", from: "tcp://127.0.0.1:7100")
/// for await snapshot in replica.snapshots {
///     print(snapshot.revision, snapshot.state)
/// }
/// ```
///
/// It starts at once, waits for the primary if necessary, and recovers by itself from lost messages, lost connections and
/// restarts of the primary. It ends with ``close()``, or when it is released.
///
/// A replica of `Value`, created with `Replica(untyped:from:)`, follows any store without knowing its types.
public final class Replica<State: Sendable>: Service {
    private let node: ReplicaNode
    private let queue = DocumentQueue()
    private let pendingObservers = PendingObservers<State>()
    private let snapshotBroadcast = Broadcast<StateSnapshot<State>>()
    private let statusBroadcast = Broadcast<ReplicaStatus>(.joining)
    private let clock = PrimaryTime()
    private let waiters = PositionWaiters()
    private let store: StoreName
    private let termination = Termination()
    /// Ends all sequences, observers and waiting tasks, for a reason; the first one counts.
    private let finish: @Sendable (_ reason: StatecastError) -> Void

    /// Follows a store whose state is kept in `content`.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    package init(
        store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration,
        logger: Logger,
        content: any DocumentContent<State>
    ) throws(StatecastError) {
        do { self.store = try StoreName(store) } catch {
            throw StatecastError(.definition, error.message, cause: error)
        }
        let endpoint = try EndpointPolicy.connectable(endpoint, insecure: configuration.insecure)
        let lag = ReplicaLag(store: self.store)
        node = try ReplicaNode(
            store: self.store,
            endpoint: endpoint,
            configuration: configuration,
            queue: queue,
            lag: lag,
            primaryTime: clock,
            logger: logger
        )
        let (node, queue, pendingObservers, waiters) = (node, queue, pendingObservers, waiters)
        let (snapshotBroadcast, statusBroadcast) = (snapshotBroadcast, statusBroadcast)
        let finish: @Sendable (StatecastError) -> Void = { reason in
            node.shutdown()
            queue.finish()
            pendingObservers.close()
            snapshotBroadcast.finish()
            statusBroadcast.finish()
            waiters.close(because: reason)
        }
        self.finish = finish
        let metrics = ReplicaMetrics(store: self.store)
        Task.detached { [termination] in
            do throws(StatecastError) { try await node.start() } catch {
                logger.error("cannot follow", metadata: ["store": "\(store)", "error": "\(error)"])
                statusBroadcast.send(.refused(Rejection(.malformed, "\(error)")))
                finish(error)
                termination.fail(error)
                return
            }
            var document = Document(content, bytesMax: configuration.limits.snapshotBytesMax)
            var observers = ObserverSet<State>()
            await queue.forEachBatch { batch in
                pendingObservers.apply(to: &observers)
                guard !batch.steps.isEmpty else { return }
                metrics.dequeued(steps: batch.steps.count)
                await Self.process(
                    batch.steps,
                    in: &document,
                    node,
                    snapshotBroadcast,
                    &observers,
                    statusBroadcast,
                    waiters
                )
                if let position = document.position { lag.shown(position) }
                if batch.wasFull { await node.resumeReading() }
            }
        }
    }

    deinit { finish(Self.closed) }

    // MARK: State and status

    /// The states with their positions, starting with the newest one. A slow reader skips intermediate states. Revisions rise
    /// within an epoch; a primary that lost revisions in a crash continues with a lower one in a later epoch.
    ///
    /// ``states`` are the same without their positions.
    public var snapshots: some AsyncSequence<StateSnapshot<State>, Never> & Sendable { snapshotBroadcast.values() }

    /// The newest state with its position; `nil` before the first.
    public var snapshot: StateSnapshot<State>? { snapshotBroadcast.latest }

    /// The replica's statuses, starting with the current one.
    public var statuses: some AsyncSequence<ReplicaStatus, Never> & Sendable {
        statusBroadcast.values(buffered: 16)
    }

    /// How the state relates to the primary's.
    public var status: ReplicaStatus { statusBroadcast.latest ?? .joining }

    /// The primary's wall clock: the last time that it published, plus the time since then; `nil` before the first.
    ///
    /// Use it to judge the age of anything in the state: this machine's wall clock may differ from the primary's.
    public var primaryTime: Timestamp? { clock.now }

    /// Returns when this replica shows the change that a receipt confirms: read your own writes.
    ///
    /// - Throws: ``StatecastError`` with code `other-lineage` if the replica has left the receipt's history, `closed` if it
    ///   was closed, `endpoint` if it could not start; ``Rejection`` with code `incompatible` if the published state does
    ///   not fit the replica's types or limits; `CancellationError`.
    public func reached(_ receipt: Receipt) async throws { try await reached(receipt.position) }

    /// Returns when this replica shows a position or a later one of the same lineage; see ``reached(_:)``.
    public func reached(_ position: Position) async throws { try await waiters.wait(for: position) }

    // MARK: Lifecycle

    /// For a service group: waits until it shuts down, and closes.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` if the replica cannot start, for example because no file
    ///   descriptors are left. Its sequences have ended then, and its last status says why.
    public func run() async throws {
        let failure = await termination.wait()
        await close()
        if let failure { throw failure }
    }

    /// Stops following; all sequences end.
    public func close() async {
        await node.stop()
        finish(Self.closed)
    }

    private static var closed: StatecastError { StatecastError(.closed, "the replica was closed") }

    // MARK: Document

    /// Processes a batch of steps and shows the resulting state: one state, regardless of the number of steps.
    private static func process(
        _ steps: [DocumentStep],
        in document: inout Document<State>,
        _ node: ReplicaNode,
        _ snapshotBroadcast: Broadcast<StateSnapshot<State>>,
        _ observers: inout ObserverSet<State>,
        _ statusBroadcast: Broadcast<ReplicaStatus>,
        _ waiters: PositionWaiters
    ) async {
        let before = document.position
        var confirmed: Position?
        var failure: DocumentFailure?
        var statuses: [ReplicaStatus] = []
        // Steps after a failed one still count: a snapshot among them makes up for the failure.
        for step in steps {
            if case .status(let status) = step { statuses.append(status) }
            do throws(DocumentFailure) { try document.process(step) } catch { failure = error }
            if case .verify(let position, _) = step, document.position == position { confirmed = position }
        }
        do throws(DocumentFailure) {
            try document.applyPending()
            if document.position != before, let snapshot = try document.snapshot() {
                snapshotBroadcast.send(snapshot)
                observers.show(snapshot.state, revision: snapshot.revision.rawValue)
                waiters.shown(snapshot.position)
            }
        } catch {
            failure = error
        }
        if let failure {
            // No state after a failure is shown, so the replica is not live.
            statuses.removeAll { $0 == .live }
            await node.documentFailed(failure)
        }
        for status in statuses {
            statusBroadcast.send(status)
            if case .incompatible(let reason) = status { waiters.fail(reason) }
        }
        if let confirmed { await node.documentConfirmed(at: confirmed) }
    }
}

extension Replica: StateSource {
    /// Calls `body` for each state that the replica shows, until the subscription is cancelled or dropped.
    ///
    /// A change leads from the state shown before to the state shown next, across any number of actions: a replica observes
    /// changes, not actions. If the replica joins another history, or starts over from a snapshot, the change starts at the
    /// state shown before, and the new revision may be the lower one.
    ///
    /// Closing the replica releases `body`, after a call that is running, and ends sequences like
    /// `changes(replay:bufferedMax:)`.
    ///
    /// - Parameters:
    ///   - replay: whether `body` receives the current state first; if none exists yet, the first one.
    ///   - body: called for one change at a time, on no particular thread; states that arrive during a call are merged into
    ///     one change. It may observe and cancel.
    public func observe(
        replay: Bool = true,
        _ body: @escaping @Sendable (Change<State>) -> Void
    ) -> Subscription {
        let observer = Listener(body)
        pendingObservers.insert(observer, replay: replay)
        queue.wake()
        // Weak, so that the callback ends with the replica even if the subscription is kept.
        return Subscription { [weak pendingObservers, weak queue, weak observer] in
            guard let observer, observer.deactivate() else { return }
            pendingObservers?.remove(observer)
            queue?.wake()
        }
    }
}

extension Replica where State: Codable {
    /// Starts to follow a store.
    ///
    /// - Parameters:
    ///   - store: the store's name.
    ///   - endpoint: where the primary publishes, for example `tcp://127.0.0.1:7100`.
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
    /// Starts to follow a store with a type that can only be decoded. Each state that is shown is decoded as a whole; a
    /// `Codable` type is patched in O(change).
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
    /// Starts to follow a store without knowing its types.
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
    /// Whether the replica may connect to other machines, although nothing encrypts or authenticates the traffic.
    public var insecure = false
    /// The messages that may wait in memory for this replica; further ones are lost, and the replica requests them again.
    public var receiveHighWaterMark = 1000
    /// The bounds of the protocol.
    public var limits = Limits()

    /// The standard configuration.
    public init() {}
}
