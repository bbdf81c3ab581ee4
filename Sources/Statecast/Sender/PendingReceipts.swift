import DequeModule
import Logging
import StatecastProtocol

/// The receipts of a sender's actions that may have no outcome yet. Used on the sender's loop only.
struct PendingReceipts {
    private struct Entry {
        let page: ReceiptPage
        /// The ticket after the last action of the page that was added.
        var end: Ticket
        /// The number of actions without an outcome.
        var openCount: Int
        /// The actions of which no caller awaits the outcome.
        var dispatched: [Range<Ticket>] = []

        var isFull: Bool { end == page.tickets.upperBound }
    }

    private var entries: Deque<Entry> = []
    /// The rejections of actions of which no caller awaits the outcome, one for each run.
    private var rejectedDispatches: [Rejection] = []
    /// An action whose time to the receipt is measured; one at a time.
    private var measured: (ticket: Ticket, began: ContinuousClock.Instant)?
    private let intake: SenderIntake
    private let metrics: SenderMetrics

    /// - Parameter session: a resumed session, whose receipts come first.
    init(from intake: SenderIntake, resuming session: ResumedSession? = nil, _ metrics: SenderMetrics) {
        (self.intake, self.metrics) = (intake, metrics)
        for page in session?.pages ?? [] {
            let end = min(page.tickets.upperBound, session?.saved.last.next ?? page.first)
            let openCount = end.distance(beyond: page.first) - page.resolvedCount
            entries.append(Entry(page: page, end: end, openCount: openCount))
        }
    }

    /// Dequeues the actions of the intake.
    ///
    /// - Parameter minBytes: as of ``SenderIntake/drain(minBytes:)``.
    mutating func dequeue(minBytes: Int = 1) -> ActionChunk? {
        guard let actions = intake.drain(minBytes: minBytes) else { return nil }
        for page in actions.pages { entries.append(Entry(page: page, end: page.first, openCount: 0)) }
        forEachEntry(of: actions.chunk.first..<actions.chunk.end) { entry, tickets in
            entry.end = tickets.upperBound
            entry.openCount += tickets.count
        }
        for range in actions.dispatched {
            forEachEntry(of: range) { entry, tickets in entry.dispatched.append(tickets) }
        }
        if measured == nil, actions.chunk.first < actions.chunk.end { measured = (actions.chunk.first, actions.began) }
        return actions.chunk
    }

    /// Reports outcomes to those who wait for them. The first outcome of an action counts.
    ///
    /// - Returns: the number of actions that had none and whose outcome no caller awaits.
    @discardableResult
    mutating func resolve(_ runs: [ResolvedRun]) -> Int {
        var (counts, dispatchedCount, rejected) = (OutcomeCounts(), 0, [Rejection]())
        for run in runs {
            if let (ticket, began) = measured, run.first <= ticket, ticket < run.end {
                if case .applied = run.kind { metrics.received(after: began.duration(to: .now)) }
                measured = nil
            }
            forEachEntry(of: run.first..<run.end) { entry, tickets in
                for part in entry.page.resolve(run.clamped(to: tickets)) {
                    entry.openCount -= part.count
                    counts.add(part.count, rejectedAs: run.code)
                    for range in entry.dispatched {
                        let count = range.clamped(to: part.first..<part.end).count
                        dispatchedCount += count
                        if count > 0, case .rejected(let rejection) = part.kind { rejected.append(rejection) }
                    }
                }
            }
        }
        while let oldest = entries.first, oldest.openCount == 0, entries.count > 1 || oldest.isFull {
            entries.removeFirst()
        }
        rejectedDispatches += rejected
        metrics.resolved(counts)
        intake.release(counts.total - dispatchedCount)
        return dispatchedCount
    }

    /// Returns the rejections since the last call.
    mutating func takeRejectedDispatches() -> [Rejection] {
        if rejectedDispatches.isEmpty { return [] }
        defer { rejectedDispatches = [] }
        return rejectedDispatches
    }

    /// Reports the last outcomes, and logs the number of actions that no caller awaits.
    mutating func giveUp(_ runs: [ResolvedRun], because cause: String, _ logger: Logger, _ store: StoreName) {
        var counts: [Rejection.Code?: Int] = [:]
        for run in runs { counts[run.code, default: 0] += resolve([run]) }
        let (notSent, unknown) = (counts[.notSent, default: 0], counts[.outcomeUnknown, default: 0])
        guard notSent + unknown > 0 else { return }
        logger.warning(
            "actions given up: \(cause)",
            metadata: ["store": "\(store)", "not-sent": "\(notSent)", "outcome-unknown": "\(unknown)"]
        )
    }

    /// The index of the first page with tickets from a ticket on.
    private func index(of ticket: Ticket) -> Int {
        max(0, entries.partitioningIndex { $0.page.first > ticket } - 1)
    }

    /// Calls `body` with each page that has tickets of a range, and these tickets.
    private mutating func forEachEntry(of tickets: Range<Ticket>, _ body: (inout Entry, Range<Ticket>) -> Void) {
        var index = index(of: tickets.lowerBound)
        while index < entries.endIndex, entries[index].page.first < tickets.upperBound {
            // The last page of a resumed session may have fewer tickets than it has room for.
            let next = index + 1 < entries.endIndex ? entries[index + 1].page.first : nil
            let own = entries[index].page.tickets
            let part = tickets.clamped(to: own.lowerBound..<min(own.upperBound, next ?? own.upperBound))
            if !part.isEmpty { body(&entries[index], part) }
            index += 1
        }
    }
}

extension Range<Ticket> {
    /// The number of tickets.
    var count: Int { upperBound.distance(beyond: lowerBound) }
}
