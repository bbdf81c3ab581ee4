import DequeModule
import StateCore

/// The requests of the primary's own process that wait, in order.
struct LocalQueue: Sendable {
    private struct Entry {
        let request: LocalRequest
        /// The effect that sent the action was cancelled.
        var isCancelled = false
    }

    private var entries: Deque<Entry> = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func append(_ request: LocalRequest) { entries.append(Entry(request: request)) }

    var first: (request: LocalRequest, isCancelled: Bool)? {
        entries.first.map { (request: $0.request, isCancelled: $0.isCancelled) }
    }

    mutating func removeFirst() { entries.removeFirst() }

    /// The work of an effect was cancelled: its actions that wait will not be reduced.
    mutating func cancel(run: UInt64) {
        for index in entries.indices {
            guard case .action(let action) = entries[index].request, case .effect(run, _) = action.origin else {
                continue
            }
            entries[index].isCancelled = true
        }
    }

    /// Puts actions that were rolled back before all others, in their order.
    mutating func prepend(_ actions: [LocalAction]) {
        entries.insert(contentsOf: actions.map { Entry(request: .action($0)) }, at: entries.startIndex)
    }

    /// Removes and returns the actions that a caller awaits.
    mutating func removeAwaited() -> [LocalAction] {
        var awaited: [LocalAction] = []
        entries.removeAll { entry in
            guard case .action(let action) = entry.request, action.origin == .awaited else { return false }
            awaited.append(action)
            return true
        }
        return awaited
    }

    /// Removes and returns all requests.
    mutating func removeAll() -> [LocalRequest] {
        defer { entries = [] }
        return entries.map(\.request)
    }
}
