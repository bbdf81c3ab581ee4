import StatecastCoding
import StatecastCore

/// A batch while it is made: actions are reduced one after the other, and their outcomes are collected.
///
/// Keeps its actions in their received form: a batch that cannot be published is reduced again in parts.
///
/// A class: its methods read the metadata of `State` from the object. Those of a generic structure look it up, which
/// takes a twentieth of an action.
final class Batch<State: Codable & Equatable & Sendable> {
    private let content: BatchState<State>
    // Each action changes these. The code of users that runs meanwhile (`init(from:)`, the `==` of an effect's ID)
    // cannot reach the batch, so exclusivity checks are disabled for speed.
    @exclusivity(unchecked) private(set) var revision: Revision
    @exclusivity(unchecked) private(set) var results = BatchResults()
    /// `nil` for a store without a journal.
    @exclusivity(unchecked) private var record: RecordEntries?
    @exclusivity(unchecked) private var memory = ActionTable.Memory()
    private(set) var notices: [StoreNotice] = []
    private var items: [BatchItem] = []
    private var frames: [ActionsFrame] = []
    /// The size of the actions of the primary's own process; 0 without a journal, which does not encode them.
    private(set) var ownBytes = 0
    private let context: BatchContext<State>
    private let suspects: Suspects
    /// The time at which the actions are reduced.
    private let time: Timestamp

    init(after version: Version<State>, _ context: BatchContext<State>, _ suspects: Suspects, at time: Timestamp) {
        content = BatchState(version.state, of: context.program)
        revision = version.revision
        (self.context, self.suspects, self.time) = (context, suspects, time)
        record = context.settings.hasJournal ? RecordEntries() : nil
    }

    var isEmpty: Bool { items.isEmpty }
    /// The state after the reduced actions.
    var state: State { content.state }

    // MARK: Reducing

    /// Reduces actions of a frame.
    ///
    /// - Returns: their outcomes.
    func reduce(_ actions: AdmittedActions, marking: some ReductionMarking) -> OutcomeRuns {
        frames.append(actions.frame)
        return reduce(
            actions.slice,
            frame: frames.count - 1,
            of: actions.sender,
            opened: actions.opened,
            rejecting: nil,
            marking: marking
        )
    }

    /// - Parameter reason: rejects the actions, instead of reducing them.
    @discardableResult
    private func reduce(
        _ slice: FrameSlice,
        frame index: Int,
        of sender: FrameSender?,
        opened: JournalSequence,
        rejecting reason: Rejection?,
        marking: some ReductionMarking
    ) -> OutcomeRuns {
        let frame = frames[index]
        let session = frame.header.session
        let action = ActionContext(time: time, session: session.description, user: sender?.user)
        self.items.append(.slice(slice, frame: index, of: sender, opened: opened))
        record?.begin(session, opened: opened, first: slice.first, time: action.time, user: action.user)
        var runs = OutcomeRuns(first: slice.first)
        var items = frame.items(from: slice.offset)
        content.makeStore(for: action)
        ItemBuffer.withItems(frame.actions) { buffer in
            for _ in 0..<slice.count {
                guard let (item, range) = items.next() else { preconditionFailure("a frame's heads were checked") }
                if let reason {
                    runs.append(rejected(runs.end, reason, from: .item(index, item), user: action.user))
                    continue
                }
                var source = RecordEntries.Source.absent
                marking.begin(session, runs.end)
                do throws(Rejection) {
                    let decoded = try decode(range, in: buffer, of: sender, session, runs.end)
                    source = .item(index, item)
                    let reduction = try reduce(decoded, as: frame[range], action)
                    marking.end()
                    runs.append(applied(runs.end, reduction, from: source))
                } catch {
                    marking.end()
                    runs.append(rejected(runs.end, error, from: source, user: action.user))
                }
            }
        }
        results.append(runs, of: session, opened: opened)
        return runs
    }

    private func decode(
        _ content: Range<Int>,
        in buffer: borrowing ItemBuffer,
        of sender: FrameSender?,
        _ session: SessionID,
        _ number: ActionNumber
    ) throws(Rejection) -> any Action {
        if suspects.containsPoison(session, number) {
            throw .crashedReducer(context.program.table.name(of: content, in: buffer))
        }
        if content.count > context.settings.limits.maxActionBytes {
            throw .tooLarge(content.count, maxBytes: context.settings.limits.maxActionBytes)
        }
        return try context.program.table.decode(content, in: buffer, from: sender, after: &memory)
    }

    /// Reduces an action of the primary's own process.
    ///
    /// - Parameter reason: rejects the action, instead of reducing it.
    /// - Returns: its outcome.
    @discardableResult
    func reduce(
        _ local: LocalAction,
        _ number: ActionNumber,
        rejecting reason: Rejection? = nil
    ) -> OutcomeRuns {
        items.append(.local(local, number))
        let action = ActionContext(time: time)
        record?.begin(.primary, opened: JournalSequence(0), first: number, time: action.time, user: nil)
        var source = RecordEntries.Source.absent
        var runs = OutcomeRuns(first: number)
        do throws(Rejection) {
            let bytes = try context.bytesForJournal(of: local.action)
            ownBytes += bytes.count
            source = .bytes(bytes)
            if let reason { throw reason }
            content.makeStore(for: action)
            let reduction = try reduce(local.action, as: bytes[...], action)
            runs.append(applied(number, reduction, from: source, of: local))
        } catch {
            runs.append(rejected(number, reason ?? error, from: source, of: local))
        }
        results.append(runs, of: .primary, opened: JournalSequence(0))
        return runs
    }

    /// Passes an action through the middlewares to the reducer.
    ///
    /// - Throws: why the action was not reduced.
    private func reduce(
        _ action: any Action,
        as bytes: @autoclosure () -> ArraySlice<UInt8>,
        _ actionContext: ActionContext
    ) throws(Rejection) -> Reduction {
        guard content.hasMiddlewares, let store = content.store else {
            if type(of: action).isForMiddleware {
                notices.append(.warning(.unhandledByMiddleware(action: type(of: action).name)))
            }
            let effect = context.program.reducer.reduce(into: &content.state, action, context: actionContext)
            return Reduction(effect: effect, bytes: nil)
        }
        var reduction: Result<Reduction, Rejection>?
        let chain = context.program.middleware
        let outcome = chain.pass(action, in: store, warn: { notices.append(.warning($0)) }) { reached in
            reduction = Result { () throws(Rejection) in
                let encoded = try context.bytesForJournal(of: reached)
                let effect = context.program.reducer.reduce(into: &content.state, reached, context: actionContext)
                return Reduction(effect: effect, bytes: encoded.elementsEqual(bytes()) ? nil : encoded)
            }
        }
        if let reduction { return try reduction.get() }
        _ = try outcome.get()
        // A value that a middleware returns cannot be sent: to the sender, the action was not applied.
        throw .swallowed(action)
    }

    /// Records that the next action is applied, and the work for when it is published.
    ///
    /// - Parameter source: the action in the form that arrived.
    private func applied(
        _ number: ActionNumber,
        _ reduction: Reduction,
        from source: RecordEntries.Source,
        of local: LocalAction? = nil
    ) -> Outcome {
        revision = revision.next
        record?.applied(reduction.bytes.map { .bytes($0) } ?? source)
        results.counts.add(rejectedAs: nil)
        results.follow(number, .applied(revision), effect: reduction.effect, local: local)
        return .applied(revision)
    }

    /// Records that the next action is rejected, and the work for when that is published.
    ///
    /// - Parameter source: the action in the form that arrived.
    private func rejected(
        _ number: ActionNumber,
        _ reason: Rejection,
        from source: RecordEntries.Source,
        user: String? = nil,
        of local: LocalAction? = nil
    ) -> Outcome {
        let maxMessageBytes = context.settings.limits.maxRejectionMessageBytes
        let logged = reason.final(maxMessageBytes: maxMessageBytes)
        notices.append(.rejected(logged, user: user, isDispatched: local.map { $0.origin != .awaited } ?? false))
        // With keys, all who may send can read the message, and a failure names keys of the state.
        let reason = user != nil && reason.code == .unencodable ? .unencodableOfUser : reason
        let rejection = reason.final(maxMessageBytes: maxMessageBytes)
        record?.rejected(source, rejection)
        results.counts.add(rejectedAs: rejection.code)
        results.follow(number, .rejected(rejection), effect: .none, local: local)
        return .rejected(rejection)
    }

    // MARK: Ending

    /// Ends the use of the state by the middlewares.
    ///
    /// - Returns: the actions that they dispatched.
    @discardableResult
    func endMiddlewares(showing published: State) -> [any Action] {
        content.end(showing: published)
    }

    /// The body of the record; empty without a journal.
    func recordBody(_ head: RecordHead, forgotten: [SessionID], patch: [UInt8]) -> [UInt8] {
        record?.body(
            head,
            frames: frames,
            forgotten: forgotten,
            patch: patch,
            maxMessageBytes: context.settings.limits.maxSessionMessageBytes
        ) ?? []
    }

    // MARK: Parts

    /// The actions in parts that are reduced again one after the other: the halves, or a single action.
    var parts: [[BatchItem]] {
        let count = items.reduce(0) { $0 + $1.count }
        guard count > 1 else { return [items] }
        var (first, second): ([BatchItem], [BatchItem]) = ([], [])
        var left = count / 2
        for item in items {
            switch item {
            case _ where item.count <= left: first.append(item)
            case .slice(let slice, let frame, let sender, let opened) where left > 0:
                let (head, tail) = slice.split(at: left, in: frames[frame])
                first.append(.slice(head, frame: frame, of: sender, opened: opened))
                second.append(.slice(tail, frame: frame, of: sender, opened: opened))
            default: second.append(item)
            }
            left = max(0, left - item.count)
        }
        return [first, second]
    }

    /// Reduces a part of this batch again, as a batch.
    ///
    /// - Parameters:
    ///   - reason: rejects the actions, instead of reducing them.
    ///   - cancels: whether a batch in flight cancels an effect.
    func reducedAgain(
        _ part: [BatchItem],
        after version: Version<State>,
        rejecting reason: Rejection?,
        marking: some ReductionMarking,
        cancels: (AnyID) -> Bool
    ) -> Batch {
        let batch = Batch(after: version, context, suspects, at: time)
        batch.frames = frames
        for item in part {
            switch item {
            case .slice(let slice, let frame, let sender, let opened):
                batch.reduce(slice, frame: frame, of: sender, opened: opened, rejecting: reason, marking: marking)
            case .local(let local, let number):
                let isCancelled = local.effectID.map { batch.results.cancelled.contains($0) || cancels($0) } ?? false
                batch.reduce(local, number, rejecting: isCancelled ? .effectCancelled : reason)
            }
        }
        return batch
    }
}

/// Actions of a batch, as they arrived. Not nested in ``Batch``, where it would be generic over the state.
enum BatchItem: Sendable {
    case slice(FrameSlice, frame: Int, of: FrameSender?, opened: JournalSequence)
    case local(LocalAction, ActionNumber)

    var count: Int {
        switch self {
        case .slice(let slice, _, _, _): slice.count
        case .local: 1
        }
    }
}

/// The result of reducing an action. Nested in ``Batch`` it would be generic over the state, and looking up metadata of
/// generic types would take a fifth of a primary's time.
private struct Reduction {
    let effect: Effect
    /// The action as it reached the reducer, if its bytes are not those that arrived.
    let bytes: [UInt8]?
}

/// The results of a batch, which take effect when it is published.
struct BatchResults: Sendable {
    /// In the order of reduction; consecutive actions of a session are one element.
    private(set) var outcomes: [SessionOutcomes] = []
    /// In the order of the actions.
    private(set) var followUps: [FollowUp] = []
    /// The IDs of the effects that its effects cancel when they start.
    private(set) var cancelled: Set<AnyID> = []
    var counts = OutcomeCounts()

    mutating func append(_ runs: OutcomeRuns, of session: SessionID, opened: JournalSequence) {
        if let last = outcomes.last, last.session == session, last.outcomes.end == runs.start {
            outcomes[outcomes.count - 1].outcomes.append(contentsOf: runs)
        } else {
            outcomes.append(SessionOutcomes(session: session, opened: opened, outcomes: runs))
        }
    }

    /// Adds the work for when an action is published, if it has any.
    mutating func follow(_ number: ActionNumber, _ outcome: Outcome, effect: Effect, local: LocalAction?) {
        guard local != nil || !effect.isNone else { return }
        cancelled.formUnion(effect.cancelledIDs)
        followUps.append(FollowUp(number: number, outcome: outcome, effect: effect, local: local))
    }
}

/// The outcomes of one session in a batch.
struct SessionOutcomes: Hashable, Sendable {
    let session: SessionID
    /// The journal sequence at which the session was opened.
    let opened: JournalSequence
    var outcomes: OutcomeRuns
}

/// The work for an action once its batch is published. Most actions of senders have none.
struct FollowUp: Sendable {
    let number: ActionNumber
    let outcome: Outcome
    let effect: Effect
    let local: LocalAction?
}

extension Rejection {
    fileprivate static let unencodableOfUser = Rejection(
        .unencodable,
        "the action, or the state after it, cannot be encoded: the primary's log says why, at level debug"
    )
}
