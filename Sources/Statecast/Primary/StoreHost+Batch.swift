internal import Logging
internal import StateCoding
internal import SyncProtocol
internal import Threading

/// An action of the open batch as it arrived, in case the batch has to be reduced again.
struct BatchedAction {
    let session: SessionID
    let number: ActionNumber
    let context: ActionContext
    /// The action before the middlewares, or why it could not be decoded.
    let arrived: Result<any Action, Rejection>
    /// The encoded action; empty for one of the primary's own process if there is no journal.
    let bytes: [UInt8]
    /// The action of the primary's own process; `nil` for a sender's.
    let local: LocalAction?

    /// The bytes for the journal if the action is rejected: none if it cannot be decoded.
    var readableBytes: [UInt8] {
        if case .success = arrived { bytes } else { [] }
    }
}

/// The result of reducing an action.
struct Reduction {
    let effect: Effect
    /// The action as it reached the reducer, encoded.
    let bytes: [UInt8]
}

/// An action with its outcome, for the journal.
struct ResolvedAction {
    let session: SessionID
    let number: ActionNumber
    let context: ActionContext
    /// See ``BatchRecord/Entry``.
    let bytes: [UInt8]
    let outcome: Outcome
}

/// The work for an action once it is durable. Most actions of senders have none.
struct FollowUp {
    let session: SessionID
    let number: ActionNumber
    let outcome: Outcome
    let effect: Effect
    let local: LocalAction?
}

/// The number of actions by outcome.
struct OutcomeCounts {
    private(set) var applied = 0
    private(set) var rejected: [Rejection.Code: Int] = [:]

    mutating func count(_ outcome: Outcome) {
        switch outcome {
        case .applied: applied += 1
        case .rejected(let rejection): rejected[rejection.code, default: 0] += 1
        }
    }
}

/// A batch whose record is in flight, with the work for when it is durable.
struct ClosedBatch<State: Sendable> {
    /// The state after the batch.
    let state: State
    let outcomeCounts: OutcomeCounts
    /// In the order of the actions.
    let followUps: [FollowUp]
    /// The IDs of the effects that its effects cancel when they start.
    let cancelled: Set<AnyID>
    /// Observers registered while the batch was open or in flight. Their replay must include the batch.
    var joining: [(observer: Listener<Change<State>>, replay: Replay)]
}

/// Buffers the actions that the middlewares of one batch dispatch, until the batch is closed.
///
/// A batch may be rolled back and reduced again; the actions dispatched in the first pass are dropped then. Once the
/// batch is closed or rolled back, the dispatcher forwards directly.
final class BufferingDispatcher: ActionDispatcher {
    /// `nil` once nothing is buffered any more.
    private let buffer = Locked<[any Action]?>([])
    private let target: any ActionDispatcher

    init(to target: any ActionDispatcher) { self.target = target }

    func dispatch(_ action: any Action) {
        let isBuffered = buffer.withLock { $0?.append(action) != nil }
        if !isBuffered { target.dispatch(action) }
    }

    /// Forwards the buffered actions, in order.
    func flush() {
        for action in endBuffering() { target.dispatch(action) }
    }

    /// Drops the buffered actions.
    func discard() { _ = endBuffering() }

    private func endBuffering() -> [any Action] {
        buffer.withLock { buffer in
            defer { buffer = nil }
            return buffer ?? []
        }
    }
}

/// From an action to its outcome: middlewares and the reducer.
extension StoreHost {
    /// Reduces a sender's actions.
    func process(_ admitted: AdmittedActions) {
        let context = ActionContext(time: runtime.clock.time, session: admitted.session.description)
        var number = admitted.first
        for bytes in admitted.actions {
            process(bytes, of: admitted.session, number, context: context) { [self] () throws(Rejection) in
                if let rejection = machine.rejection(ofBytes: bytes.count) { throw rejection }
                return try definition.table.decode(bytes)
            }
            number = number.next
        }
    }

    /// Reduces the next action of a session in the open batch.
    ///
    /// - Parameter bytes: the encoded action, as far as a journal needs it.
    func process(
        _ bytes: [UInt8],
        of session: SessionID,
        _ number: ActionNumber,
        context: ActionContext,
        local: LocalAction? = nil,
        _ decode: () throws(Rejection) -> any Action
    ) {
        // A crash from here on is attributed to this action. Only senders send an action again after a crash.
        if local == nil { crashMarker?.begin(session, number) }
        defer { crashMarker?.end() }
        let arrived = Result { () throws(Rejection) in
            if local == nil { try refusePoison(session, number) }
            return try decode()
        }
        let action = BatchedAction(
            session: session,
            number: number,
            context: context,
            arrived: arrived,
            bytes: bytes,
            local: local
        )
        batch.append(action)
        resolve(action, reduce(action))
    }

    /// Passes an action through the middlewares to the reducer.
    ///
    /// - Returns: the reduction, or why the action was not reduced.
    private func reduce(_ action: BatchedAction) -> Result<Reduction, Rejection> {
        action.arrived.flatMap { arrived in
            guard !definition.middleware.isEmpty else {
                if type(of: arrived).isForMiddleware { warn(.unhandledByMiddleware(action: type(of: arrived).name)) }
                return .success(Reduction(effect: reduce(arrived, context: action.context), bytes: action.bytes))
            }
            var reduction: Result<Reduction, Rejection>?
            let store = MiddlewareStore(context: action.context, dispatcher: dispatcher) { [self] in state }
            let outcome = definition.middleware.pass(arrived, in: store, warn: warn) { reached in
                reduction = bytesForJournal(of: reached).map { bytes in
                    Reduction(effect: reduce(reached, context: action.context), bytes: bytes)
                }
            }
            // A value that a middleware returns cannot be sent: to the sender, the action was not applied.
            return reduction ?? outcome.flatMap { _ in .failure(.swallowed(arrived)) }
        }
    }

    /// The dispatcher of the middlewares while this batch is open.
    private var dispatcher: BufferingDispatcher {
        if let bufferingDispatcher { return bufferingDispatcher }
        let dispatcher = BufferingDispatcher(to: definition.mailbox)
        bufferingDispatcher = dispatcher
        return dispatcher
    }

    private func reduce(_ action: any Action, context: ActionContext) -> Effect {
        definition.reducer.reduce(into: &state, action, context: context)
    }

    private func warn(_ warning: RuntimeWarning) {
        logger.warning("runtime warning", metadata: ["store": "\(name)", "warning": "\(warning)"])
    }

    /// Resolves an action: records its outcome, and the work for when it is durable.
    private func resolve(_ action: BatchedAction, _ result: Result<Reduction, Rejection>) {
        let (verdict, effect, bytes) =
            switch result {
            case .success(let reduction): (Verdict.applied, reduction.effect, reduction.bytes)
            case .failure(let rejection): (Verdict.rejected(rejection), Effect.none, action.readableBytes)
            }
        let outcome = machine.resolved(action.session, action.number, verdict)
        if case .rejected(let rejection) = outcome {
            logger.debug("action rejected", metadata: ["store": "\(name)", "reason": "\(rejection)"])
        }
        resolved.append(
            ResolvedAction(
                session: action.session,
                number: action.number,
                context: action.context,
                bytes: bytes,
                outcome: outcome
            )
        )
        guard action.local != nil || !effect.isNone else { return }
        cancelled.formUnion(effect.cancelledIDs)
        followUps.append(
            FollowUp(
                session: action.session,
                number: action.number,
                outcome: outcome,
                effect: effect,
                local: action.local
            )
        )
    }
}

/// From the outcomes of a batch to its record: one patch for all actions of a turn.
extension StoreHost {
    /// Closes the batch, if one is open.
    func closeBatch() {
        guard machine.hasOpenBatch else { return }
        do { close(try stateChange()) } catch { closeOneByOne() }
        batch.removeAll(keepingCapacity: true)
    }

    private func close(_ change: StateChange) {
        closed = state
        summary = change.summary
        var outcomeCounts = OutcomeCounts()
        for action in resolved { outcomeCounts.count(action.outcome) }
        inFlight.append(
            ClosedBatch(
                state: state,
                outcomeCounts: outcomeCounts,
                followUps: followUps,
                cancelled: cancelled,
                joining: joining
            )
        )
        followUps.removeAll()
        cancelled.removeAll()
        joining.removeAll()
        bufferingDispatcher.take()?.flush()
        perform(machine.close(patch: change.patch, summary: summary))
    }

    /// The patch from the last closed batch to the state, and the state's summary.
    private struct StateChange {
        let patch: [UInt8]
        let summary: Summary
    }

    private func stateChange() throws -> StateChange {
        let difference = try Differ.patch(from: closed, to: state)
        let patch = difference.patch.encode()
        let bytesMax = runtime.limits.patchBytesMax
        guard patch.count <= bytesMax else {
            throw Rejection(
                .tooLarge,
                "the change has \(patch.count) bytes, an update at most \(bytesMax): make it in several actions"
            )
        }
        var summary = summary
        summary.advance(by: difference)
        let stateBytesMax = runtime.limits.snapshotBytesMax
        guard summary.bytes <= max(stateBytesMax, self.summary.bytes) else {
            throw Rejection(
                .tooLarge,
                "the state would have \(summary.bytes) bytes, more than the \(stateBytesMax) that a replica accepts"
            )
        }
        return StateChange(patch: patch, summary: summary)
    }

    /// Rolls back a batch that cannot be encoded, or is too large for a frame, and reduces its actions again, each in a
    /// batch of its own. Rejects the actions that cause the failure.
    ///
    /// The results of the first pass are dropped, including effects, dispatched actions and decisions of middlewares,
    /// since they depend on a state that is rolled back. So a middleware may see an action twice.
    private func closeOneByOne() {
        machine.rollBackBatch()
        resolved.removeAll(keepingCapacity: true)
        followUps.removeAll()
        cancelled.removeAll()
        rollBackState()
        // Observers that were registered while the batch was open are added after all of its actions.
        let registered = joining
        joining.removeAll()
        for (index, action) in batch.enumerated() {
            if action.local == nil { crashMarker?.begin(action.session, action.number) }
            let (result, change) = reduceAlone(action)
            crashMarker?.end()
            resolve(action, result)
            if index == batch.endIndex - 1 { joining = registered }
            close(change)
        }
    }

    private func reduceAlone(_ action: BatchedAction) -> (Result<Reduction, Rejection>, StateChange) {
        let unchanged = StateChange(patch: [], summary: summary)
        if let local = action.local, !local.isWanted || isBeingCancelled(local) {
            // In this pass an earlier action cancels it.
            return (.failure(LocalAction.cancelled), unchanged)
        }
        let result = reduce(action)
        guard case .success = result else { return (result, unchanged) }
        do { return (result, try stateChange()) } catch {
            rollBackState()
            let rejection =
                error as? Rejection ?? Rejection(.unencodable, "the state cannot be published after it: \(error)")
            return (.failure(rejection), unchanged)
        }
    }

    private func rollBackState() {
        state = closed
        bufferingDispatcher.take()?.discard()
    }
}
