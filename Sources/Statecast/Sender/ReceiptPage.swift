import StatecastProtocol
import StatecastThreading

/// The outcomes of up to ``span`` actions with consecutive tickets, and the tasks that wait for them.
///
/// Receipts arrive as runs. A run costs one lock for each page, and resumes only the tasks that wait for its actions.
/// A page exists as long as an action of it has no outcome or a ``PendingReceipt`` refers to it.
final class ReceiptPage: Sendable {
    /// The maximum number of actions.
    static let span = 1024

    private struct Storage: HasWaiters {
        /// In the order of their tickets.
        var runs: [ResolvedRun] = []
        var waiters = WaiterList<Ticket, ActionOutcome>()

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
        let (inserted, met) = storage.withLock { storage in
            (storage.insert(run), storage.waiters.removeAll { $0 >= run.first && $0 < run.end })
        }
        // A waiting task's ticket had no outcome, so it is in a recorded part.
        for waiter in met { waiter.resume(returning: ActionOutcome(run.outcome(of: waiter.wanted))) }
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
        if let known = known(ticket) { return known }
        return try await storage.wait(for: ticket) { $0.outcome(of: ticket) }
    }

    /// The number of waiting tasks.
    var waitingCount: Int { storage.withLock { $0.waiters.count } }
}
