public import Logging
public import ServiceLifecycle
public import StatecastCoding
public import StatecastProtocol
import StatecastThreading
import StatecastZeroMQ

/// Sends actions to one store of a primary, and reports the outcome of each.
///
/// ```swift
/// try await withSender(ActionSender(store: "counter", from: "tcp://127.0.0.1:7100")) { sender in
///     let receipt = try await sender.send(StepChangeRequested(step: 7))
///     try await replica.reached(receipt)
/// }
/// ```
///
/// ``run()`` connects, waits for the primary if necessary, and sends. Actions that are submitted before wait for it.
///
/// The primary applies the actions of one sender in the order of their submission, each exactly once, despite lost
/// messages and lost connections. An outcome is reported as unknown if the caller gives up an action that was sent, or
/// if the primary no longer has the history or the session to which the action belongs.
public final class ActionSender: Service, ActionDispatcher, MonitoredNode {
    private let node: SenderNode
    private let intake: SenderIntake
    private let logger: Logger
    private let statusBroadcast = Broadcast<SenderStatus>(.connecting, capacity: 16)
    private let termination = Termination()
    private let store: StoreName
    /// The actions that an earlier process left in the session file, oldest first. They are sent before all others.
    public let resumed: [ResumedAction]

    /// Creates a sender with a session of its own, or with the session of a file.
    ///
    /// - Parameters:
    ///   - store: the store's name.
    ///   - endpoint: where the primary publishes, and with keys where it publishes receipts; several nodes of one
    ///     primary are separated by commas. The primary announces the endpoint for actions.
    ///   - file: stores actions without an outcome, so that the next process continues with them; `nil`: they are lost
    ///     when the process ends.
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure`, `definition` (the store's name) or `session`.
    public convenience init(
        store: String,
        from endpoint: String,
        session file: SessionFile? = nil,
        configuration: SenderConfiguration = SenderConfiguration(),
        logger: Logger = Logger(label: "statecast.sender")
    ) throws(StatecastError) {
        try self.init(store, from: endpoint, session: file, continuing: nil, configuration, logger)
    }

    /// Creates a sender for a session whose actions a client numbers, in the order of their submission.
    package convenience init(
        store: String,
        from endpoint: String,
        continuing session: ContinuedSession,
        configuration: SenderConfiguration,
        logger: Logger
    ) throws(StatecastError) {
        try self.init(store, from: endpoint, session: nil, continuing: session, configuration, logger)
    }

    private init(
        _ store: String,
        from endpoint: String,
        session file: SessionFile?,
        continuing continued: ContinuedSession?,
        _ configuration: SenderConfiguration,
        _ logger: Logger
    ) throws(StatecastError) {
        self.store = try StoreName(checking: store)
        let endpoints = try EndpointPolicy.allConnectable(
            endpoint,
            configuration.plaintext,
            isEncrypted: configuration.security != nil
        )
        if let actions = configuration.actions {
            _ = try EndpointPolicy.connectable(
                actions,
                configuration.plaintext,
                isEncrypted: configuration.security != nil
            )
        }
        self.logger = logger
        var session: ResumedSession?
        if let file { session = ResumedSession(try file.claim(for: self.store), in: file) }
        resumed = session?.actions ?? []
        intake = SenderIntake(
            maxPending: configuration.maxPending,
            after: session?.saved.last ?? Ticket(rawValue: 0),
            pending: session?.saved.outstandingCount ?? 0
        )
        node = try SenderNode(
            store: self.store,
            endpoints: endpoints,
            configuration: configuration,
            intake: intake,
            session: session,
            continuing: continued,
            statuses: statusBroadcast,
            termination: termination,
            logger: logger
        )
        RunReminder.schedule(logger) { [termination] in termination.isPending ? "sender of store \(store)" : nil }
    }

    deinit {
        // run() has ended, or was never called: the node gives up the actions that wait for it.
        node.shutdown()
        statusBroadcast.finish()
        termination.end()
    }

    // MARK: Sending

    /// Sends an action and waits until it is applied.
    ///
    /// - Parameter timeout: the maximum time to wait; `nil` for no limit.
    /// - Throws: ``Rejection`` with the primary's answer; after a timeout or a cancellation, with code
    ///   `outcome-unknown` (the message names session and number) or `not-sent`; with a session file, with code `kept`.
    @discardableResult
    public func send(_ action: some Action, timeout: Duration? = nil) async throws -> Receipt {
        try await deliver(timeout) { try await enqueue(action, mark: nil, until: $0) }
    }

    /// Sends an action by its name and payload, and waits until it is applied.
    @discardableResult
    public func send(named name: String, payload: Value, timeout: Duration? = nil) async throws -> Receipt {
        let bytes = NamedEncoding.encode(name: name, payload: payload.encoded)
        return try await deliver(timeout) { await intake.enqueue(.init(bytes: bytes), until: $0) }
    }

    /// Enqueues an action and returns at once; waits only while the maximum number of actions has no receipt.
    ///
    /// Submit several actions before waiting for their receipts, so that they share frames.
    ///
    /// - Parameter position: the position in the caller's input after this action. With a session file, the next
    ///   process finds it in ``SessionFile/position``.
    public func submit(_ action: some Action, position: UInt64? = nil) async throws -> PendingReceipt {
        try await enqueue(action, mark: position.map { InputMark(position: $0) })
    }

    /// Enqueues an action by its name and payload; see ``submit(_:position:)``.
    public func submit(named name: String, payload: Value, position: UInt64? = nil) async -> PendingReceipt {
        await submit(named: name, payload: payload, mark: position.map { InputMark(position: $0) })
    }

    package func submit(named name: String, payload: Value, mark: InputMark?) async -> PendingReceipt {
        let bytes = NamedEncoding.encode(name: name, payload: payload.encoded)
        return await intake.enqueue(.init(bytes: bytes, mark: mark), until: nil)
    }

    /// Read by probes: whether the sender's actions reach the primary.
    public var health: NodeHealth { node.health }

    /// Enqueues input that is no action, so that the session file records its rejection.
    package func reject(_ rejection: Rejection, mark: InputMark) async -> PendingReceipt {
        await intake.enqueue(.init(bytes: [], mark: mark, rejection: rejection), until: nil)
    }

    /// The caller has processed the outcomes up to this one: the session file may remove them.
    package func acknowledge(upTo receipt: PendingReceipt) async {
        if let ticket = receipt.ticket { await node.perform { $0.request { $0.acknowledge(upTo: ticket) } } }
    }

    /// The caller has submitted all of its input.
    package func finishInput(at mark: InputMark) async { await node.perform { $0.request { $0.inputEnded(at: mark) } } }

    /// Enqueues an action and returns at once, without reporting its outcome. Actions of one thread keep their order.
    ///
    /// There is no backpressure: waiting actions occupy memory, in addition to the ``SenderConfiguration/maxPending``
    /// awaited ones. Use ``submit(_:position:)`` for many actions: it waits for room. An action without an encoding, or
    /// after the end of ``run()``, is dropped and logged. Metrics count rejections, and the first one with each code is
    /// logged. When ``run()`` ends, it logs the
    /// number of actions without a receipt.
    public func dispatch(_ action: any Action) {
        do {
            let attempt = try ActionCoding.encode(action) { intake.attempt($0, isAwaited: false) }
            if case .closed(let cause) = attempt { dropped(action, cause) }
        } catch { dropped(action, "\(error)") }
    }

    private func dropped(_ action: any Action, _ reason: String) {
        logger.warning(
            "action dropped",
            metadata: ["store": "\(store)", "action": "\(type(of: action).name)", "reason": "\(reason)"]
        )
    }

    private func deliver(
        _ timeout: Duration?,
        enqueue: (SenderIntake.Deadline?) async throws -> PendingReceipt
    ) async throws -> Receipt {
        guard !Task.isCancelled else { throw Rejection.notSent(because: "the task was cancelled") }
        let deadline = timeout.map { SenderIntake.Deadline(instant: .now + $0, cause: "no receipt within \($0)") }
        let pending = try await enqueue(deadline)
        guard let ticket = pending.ticket else { return try await pending.receipt() }
        let node = node
        let alarm = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline.instant, clock: .continuous)
                await node.perform { $0.request { $0.giveUp(ticket, because: deadline.cause) } }
            }
        }
        defer { alarm?.cancel() }
        do { return try await pending.receipt() } catch is CancellationError {
            await node.perform { $0.request { $0.giveUp(ticket, because: "the waiting was cancelled") } }
            guard let outcome = pending.known else { preconditionFailure("\(ticket) was given up without an outcome") }
            return try outcome.result.get()
        }
    }

    private func enqueue(
        _ action: some Action,
        mark: InputMark?,
        until deadline: SenderIntake.Deadline? = nil
    ) async throws -> PendingReceipt {
        switch try ActionCoding.encode(action, { intake.attempt($0, mark: mark) }) {
        case .enqueued(let receipt): receipt
        case .noRoom(let bytes): await intake.enqueue(.init(bytes: bytes, mark: mark), until: deadline)
        case .closed(let cause): .notSent(because: cause)
        }
    }

    /// Where the primary opened the session, and whether it has recorded an action of it; `nil` before it has answered.
    package var opening: (place: SessionOpening, isKnown: Bool)? {
        get async {
            await node.perform { driver in driver.machine.opening.map { ($0, driver.machine.isKnown) } }
        }
    }

    /// The client of a continued session does not need the outcomes before a number any more.
    package func releaseReceipts(before number: ActionNumber) async {
        await node.perform {
            $0.request {
                $0.releaseReceipts(before: number)
                return []
            }
        }
    }

    // MARK: Schema and status

    /// The actions that the store accepts.
    ///
    /// - Throws: ``Rejection`` if the primary has no such store; `CancellationError`.
    public func actions() async throws -> [ActionDescription] {
        try await schema().actions.map { entry in
            ActionDescription(name: entry.name, example: try entry.example.map { try Value(decoding: $0) })
        }
    }

    /// The store's description of itself.
    ///
    /// - Throws: as ``actions()``.
    package func schema() async throws -> StoreSchema {
        let answer = await node.perform { $0.requestSchema() }
        do { return try await answer.wait { $0 }.get() } catch let error as CancellationError {
            await node.perform { $0.cancel(answer) }
            throw error
        }
    }

    /// The sender's statuses, starting with the current one.
    public var statuses: some AsyncSequence<SenderStatus, Never> & Sendable {
        statusBroadcast.values()
    }

    /// The state of the connection to the primary. The last one stays when ``run()`` has ended.
    public var status: SenderStatus { statusBroadcast.latest ?? .connecting }

    // MARK: Lifecycle

    /// Connects and sends until the task is cancelled or the service group shuts down. Actions without a receipt are
    /// given up then: rejected with code `not-sent` or `outcome-unknown`, or with code `kept` if a session file keeps
    /// them.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` or `resources` if the sender cannot start; with code `session`
    ///   if the session file cannot be written; with code `closed` if `run()` was called before.
    @concurrent public func run() async throws(StatecastError) {
        try termination.begin()
        do throws(StatecastError) { try await node.start() } catch {
            statusBroadcast.send(.refused(Rejection(.malformed, "\(error)")))
            termination.end(error)
        }
        let failure = await termination.wait()
        await close(because: failure.map { "\($0)" } ?? "the sender was closed")
        if let failure { throw failure }
    }

    /// Ends ``run()``. Actions without a receipt are given up.
    package func close(because cause: String = "the sender was closed") async {
        await node.stop(because: cause)
        node.shutdown()
        statusBroadcast.finish()
        termination.end()
    }
}

/// How a sender reaches its primary.
public struct SenderConfiguration: Sendable {
    /// The endpoint for actions; `nil`: the one that the primary announces, which is nearly always right.
    public var actions: String?
    /// Encrypts the connection, and pins the primary's key; `nil`: plain text.
    public var security: ClientSecurity?
    /// Where the sender may connect to without `security`.
    public var plaintext = PlaintextPolicy.thisMachine
    /// The maximum number of actions without a receipt; further calls of `send` and `submit` wait, in order. Dispatched
    /// actions do not count. To fill the window of the protocol (`limits.maxWindowActions`), a sender that submits as
    /// fast as it can needs twice as many.
    public var maxPending = 4096
    /// The maximum time for which the sender's thread polls its sockets instead of sleeping, in each wait; see
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

/// An action that a store accepts, for people and tools.
public struct ActionDescription: Hashable, Sendable {
    /// The action's name on the wire.
    public let name: String
    /// An example of a payload; `nil` if the action's type has none.
    public let example: Value?
}
