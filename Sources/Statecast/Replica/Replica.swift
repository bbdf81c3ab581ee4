public import Logging
public import ServiceLifecycle
internal import StateCoding
internal import Synchronization
internal import ZeroMQ

/// Follows one store of a primary and shows its state.
///
/// ```swift
/// let replica = try Replica<Counter>(store: "counter", from: "tcp://127.0.0.1:7100")
/// for await snapshot in replica.states {
///     print(snapshot.revision, snapshot.state)
/// }
/// ```
///
/// It begins at once, waits for a primary that is not there yet, and goes on by itself through lost messages, lost
/// connections and restarts of the primary. It ends with ``close()``, or when it is dropped.
///
/// A replica of `Value`, made with `Replica(untyped:from:)`, follows any store without knowing its types.
public final class Replica<State: Sendable>: Service {
    private let node: ReplicaNode
    let queue = DocumentQueue()
    let lobby = Lobby<State>()
    private let shown = Broadcast<StateSnapshot<State>>()
    private let statusNow = Broadcast<ReplicaStatus>(.joining)
    private let clock = PrimaryTime()
    private let waiters = RevisionWaiters()
    private let store: StoreName
    private let ending = Ending()
    /// Ends everything that this replica shows, for a reason; the first one counts.
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
    ) throws {
        do { self.store = try StoreName(store) } catch {
            throw StatecastError(.definition, error.message, cause: error)
        }
        let endpoint = try Reachability.connectable(endpoint, insecure: configuration.insecure)
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
        let (node, queue, lobby, shown, statusNow, waiters) = (node, queue, lobby, shown, statusNow, waiters)
        let finish: @Sendable (StatecastError) -> Void = { reason in
            node.shutdown()
            queue.finish()
            lobby.close()
            shown.finish()
            statusNow.finish()
            waiters.close(because: reason)
        }
        self.finish = finish
        let metrics = ReplicaMetrics(store: self.store)
        Task.detached { [ending] in
            do { try await node.start() } catch {
                logger.error("cannot follow", metadata: ["store": "\(store)", "error": "\(error)"])
                statusNow.send(.refused(Rejection(.malformed, "\(error)")))
                let failure = error as? StatecastError ?? StatecastError(.endpoint, "\(error)", cause: error)
                finish(failure)
                ending.end(failure)
                return
            }
            var document = Document(content, bytesMax: configuration.limits.snapshotBytesMax)
            var audience = Audience<State>()
            await queue.forEachBatch { steps, wasFull in
                lobby.admit(to: &audience)
                guard !steps.isEmpty else { return }
                metrics.queued(steps: steps.count)
                await Self.show(steps, in: &document, node: node, to: shown, &audience, statusNow, waiters)
                if let position = document.position { lag.shown(position) }
                if wasFull { await node.documentCaughtUp() }
            }
        }
    }

    deinit { finish(Self.closed) }

    // MARK: What it shows

    /// The states from the newest one on. A slow reader misses the ones between; revisions rise within
    /// an epoch; a primary that lost some in a crash comes back with fewer, in a later one.
    public var states: AsyncStream<StateSnapshot<State>> { shown.values() }

    /// The newest state; `nil` before the first.
    public var snapshot: StateSnapshot<State>? { shown.latest }

    /// How what is shown relates to the primary, from now on.
    public var statuses: AsyncStream<ReplicaStatus> { statusNow.values(buffered: 16) }

    /// How what is shown relates to the primary.
    public var status: ReplicaStatus { statusNow.latest ?? .joining }

    /// The primary's wall clock, as far as it is known: what it said last, and the time that has passed since.
    ///
    /// Judge by it how old something in the state is; this machine's clock may show anything.
    public var primaryTime: Timestamp? { clock.now }

    /// Returns when this replica shows what a receipt confirms: read your own writes.
    ///
    /// - Throws: ``StatecastError`` with code `other-lineage` if the replica has left the receipt's history, `closed`
    ///   if it was closed, `endpoint` if it could not start; ``Rejection`` with code `incompatible` if what is published
    ///   does not fit its types or its limits; `CancellationError`.
    public func reached(_ receipt: Receipt) async throws { try await reached(receipt.position) }

    /// Returns when this replica shows a position or a later one of the same lineage; see ``reached(_:)``.
    public func reached(_ position: Position) async throws { try await waiters.wait(for: position) }

    // MARK: Life

    /// For a service group: waits until it shuts down, and closes.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` if the replica cannot start, for example because no more
    ///   descriptors are to be had. Its sequences have ended then, and its last status says why.
    public func run() async throws {
        let failure = await ending.wait()
        await close()
        if let failure { throw failure }
    }

    /// Stops following; all sequences end.
    public func close() async {
        await node.stop()
        finish(Self.closed)
    }

    private static var closed: StatecastError { StatecastError(.closed, "the replica was closed") }

    /// Takes the steps that gathered and shows where they lead: one state, however many steps.
    private static func show(
        _ steps: [DocumentStep],
        in document: inout Document<State>,
        node: ReplicaNode,
        to shown: Broadcast<StateSnapshot<State>>,
        _ audience: inout Audience<State>,
        _ statusNow: Broadcast<ReplicaStatus>,
        _ waiters: RevisionWaiters
    ) async {
        let before = document.position
        var confirmed: Position?
        var failure: DocumentFailure?
        var statuses: [ReplicaStatus] = []
        // Steps behind one that failed still count: a snapshot among them makes up for it.
        for step in steps {
            if case .status(let status) = step { statuses.append(status) }
            do throws(DocumentFailure) { try document.take(step) } catch { failure = error }
            if case .verify(let position, _) = step, document.position == position { confirmed = position }
        }
        do throws(DocumentFailure) {
            try document.settle()
            if document.position != before, let snapshot = try document.shown() {
                shown.send(snapshot)
                audience.show(snapshot.state, revision: snapshot.revision.rawValue)
                waiters.shown(snapshot.position)
            }
        } catch {
            failure = error
        }
        if let failure {
            // What follows a failure has not been shown, so nothing of it is live.
            statuses.removeAll { $0 == .live }
            await node.documentFailed(failure)
        }
        for status in statuses {
            statusNow.send(status)
            if case .incompatible(let reason) = status { waiters.fail(reason) }
        }
        if let confirmed { await node.documentConfirmed(at: confirmed) }
    }
}

extension Replica where State: Codable {
    /// Begins to follow a store.
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
    ) throws {
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
    /// Begins to follow a store with a type that can only be decoded: all of it is, for each state that is shown. A
    /// `Codable` type is patched in O(change).
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    public convenience init(
        store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration = ReplicaConfiguration(),
        logger: Logger = Logger(label: "statecast.replica")
    ) throws {
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
    /// Begins to follow a store without knowing its types.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure` or `definition` (the store's name).
    public convenience init(
        untyped store: String,
        from endpoint: String,
        configuration: ReplicaConfiguration = ReplicaConfiguration(),
        logger: Logger = Logger(label: "statecast.replica")
    ) throws {
        try self.init(
            store: store,
            from: endpoint,
            configuration: configuration,
            logger: logger,
            content: UntypedContent()
        )
    }
}
