internal import DequeModule
internal import SyncProtocol

/// The receipts of a sender's actions that may have no outcome yet. Used on the sender's loop only.
struct OpenReceipts {
    private struct Entry {
        let page: ReceiptPage
        /// The ticket after the last action of the page that was added.
        var end: Ticket
        /// The number of actions without an outcome.
        var openCount = 0
        /// The actions of which no caller awaits the outcome.
        var dispatched: [Range<Ticket>] = []

        var isFull: Bool { end == page.tickets.upperBound }
    }

    /// A part of a run that had no outcome before.
    struct Resolved {
        let run: ResolvedRun
        /// The number of its actions whose outcome a caller awaits.
        let awaited: Int
    }

    private var entries: Deque<Entry> = []

    init() {}

    /// The receipts of a resumed session.
    init(resuming session: ResumedSession) {
        for page in session.pages {
            let end = min(page.tickets.upperBound, session.saved.last.next)
            let openCount = page.unresolved(before: end).reduce(0) { $0 + $1.count }
            entries.append(Entry(page: page, end: end, openCount: openCount))
        }
    }

    /// Adds the actions of an intake, which follow those that were added before.
    mutating func add(_ actions: SenderIntake.Drained) {
        for page in actions.pages { entries.append(Entry(page: page, end: page.first)) }
        forEachEntry(of: actions.chunk.first..<actions.chunk.end) { entry, tickets in
            entry.end = tickets.upperBound
            entry.openCount += tickets.count
        }
        for range in actions.dispatched {
            forEachEntry(of: range) { entry, tickets in entry.dispatched.append(tickets) }
        }
    }

    /// Records outcomes.
    ///
    /// - Returns: the parts of the run that had no outcome before.
    mutating func resolve(_ run: ResolvedRun) -> [Resolved] {
        var resolved: [Resolved] = []
        forEachEntry(of: run.first..<run.end) { entry, tickets in
            for part in entry.page.resolve(run.clamped(to: tickets)) {
                entry.openCount -= part.count
                let dispatched = entry.dispatched.reduce(0) { sum, range in
                    sum + min(range.upperBound, part.end).distance(beyond: max(range.lowerBound, part.first))
                }
                resolved.append(Resolved(run: part, awaited: part.count - dispatched))
            }
        }
        while let oldest = entries.first, oldest.openCount == 0, entries.count > 1 || oldest.isFull {
            entries.removeFirst()
        }
        return resolved
    }

    /// Whether an action was added and has no outcome.
    func isOpen(_ ticket: Ticket) -> Bool {
        let index = index(of: ticket)
        guard index < entries.count, entries[index].page.first <= ticket, ticket < entries[index].end else {
            return false
        }
        return !entries[index].page.isResolved(ticket)
    }

    /// The actions without an outcome.
    var unresolved: [Range<Ticket>] { entries.flatMap { $0.page.unresolved(before: $0.end) } }

    /// The index of the first page with tickets from a ticket on.
    private func index(of ticket: Ticket) -> Int {
        var (lower, upper) = (entries.startIndex, entries.endIndex)
        while lower < upper {
            let middle = (lower + upper) / 2
            let next = middle + 1 < entries.endIndex ? entries[middle + 1].page.first : nil
            if next.map({ $0 > ticket }) ?? true { upper = middle } else { lower = middle + 1 }
        }
        return lower
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
