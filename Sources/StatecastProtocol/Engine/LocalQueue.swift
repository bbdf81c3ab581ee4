import DequeModule
package import StatecastCore

/// The requests of the primary's own process that wait, in order.
struct LocalQueue: Sendable {
    private struct Entry {
        let request: LocalRequest
        /// The effect that sent the action was cancelled.
        var isCancelled = false
    }

    private var entries: Deque<Entry> = []

    mutating func append(_ request: LocalRequest) { entries.append(Entry(request: request)) }

    /// Whether the first request can be processed now.
    ///
    /// - Parameters:
    ///   - canReduce: whether an action can be reduced.
    ///   - mayBeCancelled: whether an action that is reduced and not durable yet cancels an effect. Whether the actions
    ///     of that effect are still wanted is known once the action is durable, or rolled back.
    func canDequeue(canReduce: Bool, mayBeCancelled: (AnyID) -> Bool) -> Bool {
        guard let first = entries.first else { return false }
        guard case .action(let action) = first.request, !first.isCancelled else { return true }
        return canReduce && !(action.effectID.map(mayBeCancelled) ?? false)
    }

    /// Dequeues the first request if it can be processed now.
    mutating func dequeue(
        canReduce: Bool,
        mayBeCancelled: (AnyID) -> Bool
    ) -> (request: LocalRequest, isCancelled: Bool)? {
        guard canDequeue(canReduce: canReduce, mayBeCancelled: mayBeCancelled) else { return nil }
        let first = entries.removeFirst()
        return (first.request, first.isCancelled)
    }

    /// The work of an effect was cancelled: its actions that wait will not be reduced.
    mutating func cancel(work: UInt64) {
        for index in entries.indices {
            guard case .action(let action) = entries[index].request, case .effect(work, _) = action.origin else {
                continue
            }
            entries[index].isCancelled = true
        }
    }

    /// Prepends actions that were rolled back, in their order.
    mutating func prepend(_ actions: [LocalAction]) {
        entries.insert(contentsOf: actions.map { Entry(request: .action($0)) }, at: entries.startIndex)
    }

    /// Removes and returns all requests.
    mutating func removeAll() -> [LocalRequest] {
        defer { entries = [] }
        return entries.map(\.request)
    }
}

/// Identifies an action of the primary's own process whose outcome is to be reported.
package struct LocalID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// Identifies an observer in the primary's own process.
package struct ObserverID: Hashable, Sendable {
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// The outcome of an action of the primary's own process.
package enum LocalOutcome: Hashable, Sendable {
    case applied(ActionNumber, Position)
    case rejected(Rejection)
}

/// A request of the primary's own process.
package enum LocalRequest: Sendable {
    case action(LocalAction)
    case observe(ObserverID, Replay)
    case ignore(ObserverID)
}

/// An action of the primary's own process.
package struct LocalAction: Sendable {
    package let action: any Action
    /// Under which its outcome is reported; `nil` if nothing awaits it.
    package let id: LocalID?
    package let origin: Origin

    package enum Origin: Hashable, Sendable {
        case dispatched
        case awaited
        /// Sent by the work of an effect: its number, and the ID under which it can be cancelled.
        case effect(work: UInt64, AnyID?)
    }

    package init(_ action: any Action, id: LocalID? = nil, origin: Origin) {
        self.action = action
        self.id = id
        self.origin = origin
    }

    /// The ID under which the effect that sent it can be cancelled.
    var effectID: AnyID? {
        if case .effect(_, let id) = origin { id } else { nil }
    }
}

extension Rejection {
    /// The outcome of an action whose effect was cancelled before it was reduced.
    package static let effectCancelled = Rejection(.stopped, "the effect was cancelled")
}
