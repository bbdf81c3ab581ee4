public import Logging
public import ServiceLifecycle
public import StateCoding
public import SyncProtocol
internal import ZeroMQ

/// Sends actions to one store of a primary, and learns what becomes of each.
///
/// ```swift
/// let sender = try ActionSender(store: "counter", from: "tcp://127.0.0.1:7100")
/// let receipt = try await sender.send(StepChangeRequested(step: 7))
/// try await replica.reached(receipt)
/// ```
///
/// Actions of one sender are applied in the order in which they were taken, each exactly once, through lost messages and
/// lost connections. Only where the primary begins a new history may an action's outcome stay unknown; it is then said
/// so, never guessed.
public final class ActionSender: Service, ActionDispatcher {
    private let node: SenderNode
    private let intake: SenderIntake
    private let logger: Logger
    private let statusNow = Broadcast<SenderStatus>(.connecting)
    private let ending = Ending()
    private let store: StoreName
    /// What an earlier process left in the session file, oldest first: it is sent before anything else.
    public let resumed: [ResumedAction]

    /// Begins a session. Waits for a primary that is not there yet.
    ///
    /// - Parameters:
    ///   - store: the store's name.
    ///   - endpoint: where the primary publishes; where to push it says itself.
    ///   - file: keeps what is not finished on the disk, so that the next process goes on with it; `nil`: what has no
    ///     outcome when the process ends is forgotten.
    /// - Throws: ``StatecastError`` with code `endpoint`, `insecure`, `definition` (the store's name) or `session`.
    public init(
        store: String,
        from endpoint: String,
        session file: SessionFile? = nil,
        configuration: SenderConfiguration = SenderConfiguration(),
        logger: Logger = Logger(label: "statecast.sender")
    ) throws {
        do { self.store = try StoreName(store) } catch {
            throw StatecastError(.definition, error.message, cause: error)
        }
        let endpoint = try Reachability.connectable(endpoint, insecure: configuration.insecure)
        if let actions = configuration.actions {
            _ = try Reachability.connectable(actions, insecure: configuration.insecure)
        }
        self.logger = logger
        let session = if let file { try ResumedSession(file, of: self.store) } else { nil as ResumedSession? }
        resumed = session?.actions ?? []
        intake = SenderIntake(
            pendingMax: configuration.pendingMax,
            behind: session?.saved.last ?? Ticket(rawValue: 0),
            pending: session?.pending.count ?? 0
        )
        node = try SenderNode(
            store: self.store,
            endpoint: endpoint,
            configuration: configuration,
            intake: intake,
            session: session,
            statuses: statusNow,
            logger: logger
        )
        Task.detached(executorPreference: node.tasks) { [node, statusNow, ending] in
            do { try await node.start() } catch {
                logger.error("cannot send", metadata: ["store": "\(store)", "error": "\(error)"])
                statusNow.send(.refused(Rejection(.malformed, "\(error)")))
                statusNow.finish()
                await node.stop(because: "\(error)")
                ending.end(error as? StatecastError ?? StatecastError(.endpoint, "\(error)", cause: error))
            }
        }
    }

    deinit {
        Task.detached(executorPreference: node.tasks) { [node] in
            await node.stop(because: "the sender was dropped")
            node.shutdown()
        }
        statusNow.finish()
    }

    // MARK: Sending

    /// Sends an action and waits until it is applied.
    ///
    /// - Parameter timeout: how long to wait; `nil`: as long as it takes.
    /// - Throws: ``Rejection`` with what the primary answered; with code `outcome-unknown` (session and number are named)
    ///   or `not-sent` on a timeout and on cancellation.
    @discardableResult
    public func send(_ action: some Action, timeout: Duration? = nil) async throws -> Receipt {
        try await deliver(try ActionCoding.encode(action), timeout: timeout)
    }

    /// Sends an action of which only the name and the payload are known, and waits until it is applied.
    @discardableResult
    public func send(named name: String, payload: Value, timeout: Duration? = nil) async throws -> Receipt {
        try await deliver(ActionCoding.encode(name: name, payload: payload.encoded), timeout: timeout)
    }

    /// Takes an action and returns at once; waits only while too many are without a receipt.
    ///
    /// Many at a time go in one frame: submit, then wait for the receipts.
    ///
    /// - Parameter position: how far whoever sends has come in its input with this action; with a session file the next
    ///   process finds it in ``SessionFile/position``.
    public func submit(_ action: some Action, position: UInt64? = nil) async throws -> PendingReceipt {
        await take(.init(bytes: try ActionCoding.encode(action), mark: position.map { InputMark(position: $0) }))
    }

    /// Takes an action of which only the name and the payload are known; see ``submit(_:position:)``.
    public func submit(named name: String, payload: Value, position: UInt64? = nil) async -> PendingReceipt {
        await submit(named: name, payload: payload, mark: position.map { InputMark(position: $0) })
    }

    package func submit(named name: String, payload: Value, mark: InputMark?) async -> PendingReceipt {
        await take(.init(bytes: ActionCoding.encode(name: name, payload: payload.encoded), mark: mark))
    }

    /// Takes a piece of input that is no action, for the session file to keep what became of it.
    package func reject(_ verdict: Rejection, mark: InputMark) async -> PendingReceipt {
        await take(.init(bytes: [], mark: mark, verdict: verdict))
    }

    /// Whoever needed the outcomes up to this one has them: the session file may forget them.
    package func acknowledge(upTo receipt: PendingReceipt) async {
        if let ticket = receipt.ticket { await node.acknowledge(upTo: ticket) }
    }

    /// All of the input was taken.
    package func inputEnded(at mark: InputMark) async { await node.inputEnded(at: mark) }

    /// Takes an action in and returns at once, without an answer; actions of one thread keep their order.
    ///
    /// There is no backpressure: actions that the primary cannot take yet wait in memory, beside the
    /// ``SenderConfiguration/pendingMax`` actions that are awaited. Where there may be many, ``submit(_:position:)`` waits
    /// for room. An action that has no encoding, or comes after ``close()``, is dropped, and logged; rejections are counted (see the metrics). How many
    /// had no receipt yet when the sender was closed or dropped is logged.
    public func dispatch(_ action: any Action) {
        do { try intake.takeAtOnce(try ActionCoding.encode(action)) } catch {
            let reason = if case .closed(let cause) = error as? SenderIntake.Refusal { cause } else { "\(error)" }
            logger.warning(
                "action dropped",
                metadata: ["store": "\(store)", "action": "\(type(of: action).name)", "reason": "\(reason)"]
            )
        }
    }

    private func deliver(_ bytes: [UInt8], timeout: Duration?) async throws -> Receipt {
        let deadline = timeout.map { ContinuousClock.now + $0 }
        let expired = timeout.map { "no receipt within \($0)" } ?? ""
        let pending = await take(.init(bytes: bytes), until: deadline, expired: expired)
        guard let ticket = pending.ticket else { return try await pending.receipt() }
        let node = node
        let alarm = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                await node.giveUp(ticket, because: expired)
            }
        }
        defer { alarm?.cancel() }
        do { return try await pending.receipt() } catch is CancellationError {
            await node.giveUp(ticket, because: "the waiting was cancelled")
            // Settled now if it was not before, so this does not wait.
            return try await Task.detached { try await pending.receipt() }.value
        }
    }

    /// - Returns: the action's receipt; one without a ticket that has its outcome if the action was not taken.
    private func take(
        _ submission: SenderIntake.Submission,
        until deadline: ContinuousClock.Instant? = nil,
        expired: String = ""
    ) async -> PendingReceipt {
        do { return try await intake.take(submission, until: deadline) } catch {
            let cause =
                switch error as? SenderIntake.Refusal {
                case .cancelled: "the waiting was cancelled"
                case .timedOut: expired
                case .closed(let cause): cause
                case nil: "\(error)"
                }
            let receipt = PendingReceipt()
            let reason = "\(cause) before the action was sent; it will not be applied"
            receipt.settle(.notSent(Rejection(.notSent, reason)))
            return receipt
        }
    }

    // MARK: Asking

    /// The actions that the store knows.
    ///
    /// - Throws: ``Rejection`` if the primary has no such store; `CancellationError`.
    public func actions() async throws -> [ActionDescription] {
        try await schema().actions.map { entry in
            ActionDescription(name: entry.name, example: try entry.example.map { try Value(decoding: $0) })
        }
    }

    /// What the store says of itself.
    ///
    /// - Throws: as ``actions()``.
    package func schema() async throws -> StoreSchema {
        let (node, inquiry) = (node, Inquiry())
        return try await withTaskCancellationHandler {
            try await node.schema(inquiry)
        } onCancel: {
            Task.detached(executorPreference: node.tasks) { await node.giveUp(inquiry) }
        }
    }

    /// How the sender stands with its primary, from now on.
    public var statuses: AsyncStream<SenderStatus> { statusNow.values(buffered: 16) }

    /// How the sender stands with its primary.
    public var status: SenderStatus { statusNow.latest ?? .connecting }

    // MARK: Life

    /// For a service group: waits until it shuts down, and closes.
    ///
    /// - Throws: ``StatecastError`` with code `endpoint` if the sender cannot start, for example because no more
    ///   descriptors are to be had.
    public func run() async throws {
        let failure = await ending.wait()
        await close()
        if let failure { throw failure }
    }

    /// Stops sending; what has no receipt is told so.
    public func close() async { await close(because: "the sender was closed") }

    /// Stops sending; what has no receipt is told the cause.
    package func close(because cause: String) async {
        await node.stop(because: cause)
        node.shutdown()
        statusNow.finish()
    }
}
