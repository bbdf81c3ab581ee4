internal import StateCoding
import StateCore

/// A batch while it is made: actions are reduced one after the other, and their outcomes are collected.
///
/// It keeps what it reduced as it arrived, because a batch that cannot be published is reduced again in parts.
struct Batch<State: Codable & Equatable & Sendable>: Sendable {
    /// The state after the reduced actions, and its revision; the summary is that of the state before.
    private(set) var version: Version<State>
    private(set) var items: [Item] = []
    private var frames: [ActionsFrame] = []
    /// The size of the actions of the primary's own process; 0 without a journal, which does not encode them.
    private(set) var ownBytes = 0
    /// In the order of reduction; consecutive actions of a session are one element.
    private(set) var outcomes: [SessionOutcomes] = []
    private(set) var followUps: [FollowUp] = []
    /// The IDs of the effects that its effects cancel when they start.
    private(set) var cancelled: Set<AnyID> = []
    var joining: [(observer: ObserverID, replay: Replay)] = []
    private(set) var counts = OutcomeCounts()
    private(set) var notices: [StoreNotice] = []
    /// `nil` for a store without a journal.
    private var entries: RecordEntries?
    private var memory = ActionTable.Memory()
    private var middlewares: MiddlewareLease<State>?

    let surroundings: BatchSurroundings<State>

    /// Actions as they arrived.
    enum Item: Sendable {
        case slice(FrameSlice, frame: Int, session: SessionID, opened: JournalSequence)
        case local(LocalAction, ActionNumber)

        var count: Int {
            switch self {
            case .slice(let slice, _, _, _): slice.count
            case .local: 1
            }
        }
    }

    init(after version: Version<State>, _ surroundings: BatchSurroundings<State>) {
        self.version = version
        self.surroundings = surroundings
        entries = surroundings.hasJournal ? RecordEntries() : nil
    }

    var isEmpty: Bool { items.isEmpty }
    /// The number of actions.
    var count: Int { items.reduce(0) { $0 + $1.count } }

    // MARK: Reducing

    /// Reduces actions of a frame.
    ///
    /// - Returns: their outcomes.
    mutating func reduce(
        _ slice: FrameSlice,
        of frame: ActionsFrame,
        opened: JournalSequence,
        marking: some ReductionMarking
    ) -> OutcomeRuns {
        frames.append(frame)
        return reduce(slice, frame: frames.count - 1, opened: opened, marking: marking)
    }

    private mutating func reduce(
        _ slice: FrameSlice,
        frame index: Int,
        opened: JournalSequence,
        marking: some ReductionMarking
    ) -> OutcomeRuns {
        let frame = frames[index]
        let session = frame.header.session
        let context = ActionContext(time: surroundings.time, session: session.description)
        items.append(.slice(slice, frame: index, session: session, opened: opened))
        entries?.begin(session, opened: opened, first: slice.first, time: context.time, user: context.user)
        var runs = OutcomeRuns(first: slice.first)
        var number = slice.first
        var appliedCount = 0
        var items = frame.items(from: slice.offset)
        ItemBuffer.lend(frame.actions) { buffer in
            for _ in 0..<slice.count {
                guard let (item, content) = items.next() else { preconditionFailure("a frame's heads were checked") }
                marking.begin(session, number)
                let arrived = arrived(content, in: buffer, session, number)
                let reduced = arrived.flatMap { reduce($0, as: frame[content], context: context) }
                marking.end()
                switch reduced {
                case .success(let reduction):
                    version.revision = version.revision.next
                    appliedCount += 1
                    runs.append(.applied(version.revision), count: 1)
                    if let bytes = reduction.bytes {
                        entries?.applied(bytes)
                    } else {
                        entries?.applied(index, item, count: 1)
                    }
                    if !reduction.effect.isNone {
                        let outcome = Outcome.applied(version.revision)
                        follow(session, number, outcome, effect: reduction.effect)
                    }
                case .failure(let reason):
                    let rejection = surroundings.final(reason)
                    runs.append(.rejected(rejection), count: 1)
                    if case .success = arrived {
                        entries?.rejected(.item(index, item), rejection)
                    } else {
                        entries?.rejected(.none, rejection)
                    }
                    notices.append(.rejected(rejection))
                    counts.countRejected(rejection.code)
                }
                number = number.next
            }
        }
        counts.countApplied(appliedCount)
        append(runs, of: session, opened: opened)
        return runs
    }

    /// Decodes an action.
    private mutating func arrived(
        _ content: Range<Int>,
        in buffer: borrowing ItemBuffer,
        _ session: SessionID,
        _ number: ActionNumber
    ) -> Result<any Action, Rejection> {
        Result { () throws(Rejection) in
            if surroundings.isPoison(session, number) {
                throw Rejection(
                    .crashedReducer,
                    "the primary crashed twice in a row while it reduced this action, and does not try again"
                )
            }
            if content.count > surroundings.limits.actionBytesMax {
                throw Rejection.tooLarge(content.count, bytesMax: surroundings.limits.actionBytesMax)
            }
            return try surroundings.program.table.decode(content, in: buffer, after: &memory)
        }
    }

    /// Reduces an action of the primary's own process.
    ///
    /// - Returns: its outcome.
    mutating func reduce(_ local: LocalAction, _ number: ActionNumber, isCancelled: Bool) -> OutcomeRuns {
        items.append(.local(local, number))
        let context = ActionContext(time: surroundings.time)
        entries?.begin(.primary, opened: JournalSequence(0), first: number, time: context.time, user: nil)
        let encoded = surroundings.bytesForJournal(of: local.action)
        if case .success(let bytes) = encoded { ownBytes += bytes.count }
        let wanted = isCancelled ? .failure(.effectCancelled) : encoded
        let reduced = wanted.flatMap { bytes in
            reduce(local.action, as: bytes[...], context: context).map {
                Reduction(effect: $0.effect, bytes: $0.bytes ?? bytes)
            }
        }
        let outcome: Outcome
        var runs = OutcomeRuns(first: number)
        switch reduced {
        case .success(let reduction):
            version.revision = version.revision.next
            outcome = .applied(version.revision)
            entries?.applied(reduction.bytes ?? [])
            counts.countApplied(1)
            follow(.primary, number, outcome, effect: reduction.effect, local: local)
        case .failure(let reason):
            let rejection = surroundings.final(reason)
            outcome = .rejected(rejection)
            entries?.rejected((try? encoded.get()).map { .bytes($0) } ?? .none, rejection)
            notices.append(.rejected(rejection))
            counts.countRejected(rejection.code)
            follow(.primary, number, outcome, effect: .none, local: local)
        }
        runs.append(outcome)
        append(runs, of: .primary, opened: JournalSequence(0))
        return runs
    }

    /// The result of reducing an action.
    private struct Reduction {
        let effect: Effect
        /// The action as it reached the reducer, if its bytes are not those that arrived.
        let bytes: [UInt8]?
    }

    /// Passes an action through the middlewares to the reducer.
    ///
    /// - Returns: the reduction, or why the action was not reduced.
    private mutating func reduce(
        _ action: any Action,
        as bytes: ArraySlice<UInt8>,
        context: ActionContext
    ) -> Result<Reduction, Rejection> {
        let program = surroundings.program
        guard !program.middleware.isEmpty else {
            if type(of: action).isForMiddleware {
                notices.append(.warning(.unhandledByMiddleware(action: type(of: action).name)))
            }
            let effect = program.reducer.reduce(into: &version.state, action, context: context)
            return .success(Reduction(effect: effect, bytes: nil))
        }
        let lease = middlewares ?? MiddlewareLease(version.state, dispatcher: program.dispatcher)
        middlewares = lease
        // Moved, not copied: the reducer changes it in place.
        swap(&version.state, &lease.state)
        defer { swap(&version.state, &lease.state) }
        var reduction: Result<Reduction, Rejection>?
        let store = MiddlewareStore(context: context, dispatcher: lease.dispatcher) { lease.state }
        var warnings: [StoreNotice] = []
        defer { notices += warnings }
        let outcome = program.middleware.pass(action, in: store, warn: { warnings.append(.warning($0)) }) { reached in
            reduction = surroundings.bytesForJournal(of: reached).map { encoded in
                let effect = program.reducer.reduce(into: &lease.state, reached, context: context)
                return Reduction(effect: effect, bytes: encoded.elementsEqual(bytes) ? nil : encoded)
            }
        }
        // A value that a middleware returns cannot be sent: to the sender, the action was not applied.
        return reduction ?? outcome.flatMap { _ in .failure(.swallowed(action)) }
    }

    private mutating func append(_ runs: OutcomeRuns, of session: SessionID, opened: JournalSequence) {
        if let last = outcomes.last, last.session == session, last.outcomes.end == runs.start {
            outcomes[outcomes.count - 1].outcomes.append(contentsOf: runs)
        } else {
            outcomes.append(SessionOutcomes(session: session, opened: opened, outcomes: runs))
        }
    }

    /// Records the work for when an action is published.
    private mutating func follow(
        _ session: SessionID,
        _ number: ActionNumber,
        _ outcome: Outcome,
        effect: Effect,
        local: LocalAction? = nil
    ) {
        cancelled.formUnion(effect.cancelledIDs)
        followUps.append(
            FollowUp(session: session, number: number, outcome: outcome, effect: effect, local: local)
        )
    }

    // MARK: Ending

    /// Ends the use of the state by the middlewares.
    ///
    /// - Returns: the actions that they dispatched.
    mutating func endMiddlewares(showing published: State) -> [any Action] {
        guard let lease = middlewares.take() else { return [] }
        lease.state = published
        return lease.dispatcher.end()
    }

    /// The body of the record; empty without a journal.
    func recordBody(_ head: RecordHead, forgotten: [SessionID], patch: [UInt8]) -> [UInt8] {
        entries?.body(
            head,
            frames: frames,
            forgotten: forgotten,
            patch: patch,
            messageBytesMax: surroundings.limits.sessionMessageBytesMax
        ) ?? []
    }

    // MARK: Parts

    /// The first and the second half of its actions.
    func halves() -> (first: [Item], second: [Item]) {
        var (first, second): ([Item], [Item]) = ([], [])
        var left = count / 2
        for item in items {
            switch item {
            case _ where item.count <= left: first.append(item)
            case .slice(let slice, let frame, let session, let opened) where left > 0:
                let (head, tail) = slice.split(at: left, in: frames[frame])
                first.append(.slice(head, frame: frame, session: session, opened: opened))
                second.append(.slice(tail, frame: frame, session: session, opened: opened))
            default: second.append(item)
            }
            left = max(0, left - item.count)
        }
        return (first, second)
    }

    /// An empty batch with the frames of this one, for its parts.
    func emptied(after version: Version<State>) -> Batch {
        var batch = Batch(after: version, surroundings)
        batch.frames = frames
        return batch
    }

    /// Reduces a part of another batch with the same frames.
    ///
    /// - Parameter cancels: whether a batch in flight cancels an effect.
    mutating func reduce(
        _ item: Item,
        marking: some ReductionMarking,
        cancels: (AnyID) -> Bool
    ) -> OutcomeRuns {
        switch item {
        case .slice(let slice, let frame, _, let opened):
            return reduce(slice, frame: frame, opened: opened, marking: marking)
        case .local(let local, let number):
            let isCancelled = local.effectID.map { cancelled.contains($0) || cancels($0) } ?? false
            return reduce(local, number, isCancelled: isCancelled)
        }
    }

    /// Rejects the only action of another batch with the same frames without reducing it.
    mutating func reject(_ item: Item, _ reason: Rejection) -> OutcomeRuns {
        items.append(item)
        let rejection = surroundings.final(reason)
        notices.append(.rejected(rejection))
        counts.countRejected(rejection.code)
        let time = surroundings.time
        switch item {
        case .slice(let slice, let index, let session, let opened):
            entries?.begin(session, opened: opened, first: slice.first, time: time, user: nil)
            entries?.rejected(.item(index, slice.offset..<slice.end), rejection)
            return rejected(rejection, slice.first, of: session, opened: opened)
        case .local(let local, let number):
            entries?.begin(.primary, opened: JournalSequence(0), first: number, time: time, user: nil)
            let bytes = try? surroundings.bytesForJournal(of: local.action).get()
            entries?.rejected(bytes.map { .bytes($0) } ?? .none, rejection)
            follow(.primary, number, .rejected(rejection), effect: .none, local: local)
            return rejected(rejection, number, of: .primary, opened: JournalSequence(0))
        }
    }

    private mutating func rejected(
        _ rejection: Rejection,
        _ number: ActionNumber,
        of session: SessionID,
        opened: JournalSequence
    ) -> OutcomeRuns {
        var runs = OutcomeRuns(first: number)
        runs.append(.rejected(rejection), count: 1)
        append(runs, of: session, opened: opened)
        return runs
    }
}

/// What a batch needs of its store.
struct BatchSurroundings<State: Codable & Equatable & Sendable>: Sendable {
    let program: StoreProgram<State>
    let limits: Limits
    let hasJournal: Bool
    let suspects: [Suspect]
    /// When the actions were received.
    let time: Timestamp

    func final(_ rejection: Rejection) -> Rejection {
        rejection.final(messageBytesMax: limits.rejectionMessageBytesMax)
    }

    func isPoison(_ session: SessionID, _ number: ActionNumber) -> Bool {
        !suspects.isEmpty && suspects.contains { $0.isPoison && $0.session == session && $0.number == number }
    }

    /// An action as the journal stores it; empty without a journal.
    func bytesForJournal(of action: any Action) -> Result<[UInt8], Rejection> {
        guard hasJournal else { return .success([]) }
        do {
            let bytes = try ActionTable.encode(action)
            guard bytes.count <= limits.actionBytesMax else {
                return .failure(.tooLarge(bytes.count, bytesMax: limits.actionBytesMax))
            }
            return .success(bytes)
        } catch {
            return .failure(Rejection(.unencodable, "the action cannot be journaled: \(error)"))
        }
    }
}

/// The state of a batch for its middlewares, and their dispatcher.
///
/// A middleware may keep its store. It then reads the state that was published before the batch ended, and dispatches
/// directly.
///
/// Unchecked, but safe: a ``MiddlewareStore`` is not `Sendable`, and only the engine's thread changes the state.
final class MiddlewareLease<State: Sendable>: @unchecked Sendable {
    /// Moved in while the middlewares run.
    var state: State
    let dispatcher: BufferingDispatcher

    init(_ state: State, dispatcher: any ActionDispatcher) {
        self.state = state
        self.dispatcher = BufferingDispatcher(to: dispatcher)
    }
}

extension Rejection {
    /// The outcome of an action whose effect was cancelled before it was reduced.
    static let effectCancelled = Rejection(.stopped, "the effect was cancelled")
}

extension LocalAction {
    /// The ID under which the effect that sent it can be cancelled.
    var effectID: AnyID? {
        if case .effect(_, let id) = origin { id } else { nil }
    }
}
