internal import SyncProtocol
internal import Threading

/// The outcomes of up to ``span`` actions with consecutive tickets, and the tasks that wait for them.
///
/// Receipts arrive as runs. A run costs one lock for each page, and resumes only the tasks that wait for its actions.
/// A page exists as long as an action of it has no outcome or a ``PendingReceipt`` refers to it.
final class ReceiptPage: Sendable {
    /// The maximum number of actions.
    static let span = 1024

    private struct Waiter {
        let key: UInt64
        let ticket: Ticket
        let continuation: CheckedContinuation<ActionOutcome, any Error>
    }

    private struct Storage {
        /// In the order of their tickets.
        var runs: [ResolvedRun] = []
        var waiters: [Waiter] = []
        var waiterCount: UInt64 = 0

        /// The index of the first run that ends after a ticket.
        func index(of ticket: Ticket) -> Int { runs.partitioningIndex { $0.end > ticket } }

        func outcome(of ticket: Ticket) -> ActionOutcome? {
            let index = index(of: ticket)
            guard index < runs.count, runs[index].first <= ticket else { return nil }
            return ActionOutcome(runs[index].outcome(of: ticket))
        }

        /// Inserts the parts of a run whose actions have no outcome.
        mutating func insert(_ run: ResolvedRun) -> [ResolvedRun] {
            guard let last = runs.last, last.end > run.first else {
                runs.append(run)
                return [run]
            }
            var inserted: [ResolvedRun] = []
            var (index, next) = (index(of: run.first), run.first)
            while next < run.end {
                let upper = index < runs.count ? min(runs[index].first, run.end) : run.end
                if next < upper {
                    let part = run.clamped(to: next..<upper)
                    runs.insert(part, at: index)
                    inserted.append(part)
                    index += 1
                }
                guard index < runs.count else { break }
                next = max(next, runs[index].end)
                index += 1
            }
            return inserted
        }

        /// Removes the tasks that wait for actions of a run.
        mutating func removeWaiters(for run: ResolvedRun) -> ArraySlice<Waiter> {
            guard !waiters.isEmpty else { return [] }
            let met = waiters.partition { $0.ticket >= run.first && $0.ticket < run.end }
            defer { waiters.removeSubrange(met...) }
            return waiters[met...]
        }
    }

    /// The ticket of the first action.
    let first: Ticket
    private let storage = Locked(Storage())

    init(first: Ticket) { self.first = first }

    /// The tickets that belong to this page.
    var tickets: Range<Ticket> { first..<first.advanced(by: Self.span) }

    /// Records the outcome of those actions of a run that have none; the first one of an action counts.
    ///
    /// - Parameter run: within ``tickets``.
    /// - Returns: the recorded parts.
    func resolve(_ run: ResolvedRun) -> [ResolvedRun] {
        let (inserted, met) = storage.withLock { storage in (storage.insert(run), storage.removeWaiters(for: run)) }
        // A waiting task's ticket had no outcome, so it is in a recorded part.
        for waiter in met { waiter.continuation.resume(returning: ActionOutcome(run.outcome(of: waiter.ticket))) }
        return inserted
    }

    /// The number of actions with an outcome.
    var resolvedCount: Int { storage.withLock { $0.runs.reduce(0) { $0 + $1.count } } }

    /// The outcome of an action; `nil` if it has none yet.
    func known(_ ticket: Ticket) -> ActionOutcome? { storage.withLock { $0.outcome(of: ticket) } }

    /// Waits for the outcome of an action.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the action has its outcome.
    func outcome(of ticket: Ticket) async throws -> ActionOutcome {
        let (known, key) = storage.withLock { storage in
            storage.waiterCount += 1
            return (storage.outcome(of: ticket), storage.waiterCount)
        }
        if let known { return known }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<ActionOutcome, any Error>? = storage.withLock { storage in
                    if let outcome = storage.outcome(of: ticket) { return .success(outcome) }
                    // A cancellation before this point found no waiter to remove.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    storage.waiters.append(Waiter(key: key, ticket: ticket, continuation: continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = storage.withLock { storage in
                storage.waiters.firstIndex { $0.key == key }.map { storage.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// The number of waiting tasks.
    var waitingCount: Int { storage.withLock { $0.waiters.count } }
}
