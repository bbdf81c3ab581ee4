internal import StateCore

/// What effects and middlewares have sent to a test core, until the test takes it.
final class Inbox: ActionDispatcher {
    private let content = Watched(Content())

    /// What is waiting, and what may still send.
    struct Content: Sendable {
        fileprivate(set) var arrivals: [Arrival] = []
        fileprivate(set) var running: [RunningPart] = []

        /// What waits and was not cancelled meanwhile.
        var wanted: [Arrival] { arrivals.filter(\.isWanted) }
    }

    /// A part of an effect that has not ended.
    struct RunningPart: Sendable {
        let number: Int
        let name: String
    }

    /// Sent by a part of an effect when it has ended.
    struct PartEnded: Action {
        let number: Int
    }

    var now: Content { content.value }

    // MARK: Sending

    func dispatch(_ action: any Action) { arrive(Arrival(action: action, result: nil)) }

    /// Takes what an effect sends.
    func deliver(_ result: EffectAction) {
        if let ended = result.action as? PartEnded {
            forget([ended.number])
            result.complete()
        } else {
            arrive(Arrival(action: result.action, result: result))
        }
    }

    private func arrive(_ arrival: Arrival) {
        let isKept = content.change { content in
            guard arrival.isWanted else { return false }
            content.arrivals.append(arrival)
            return true
        }
        if !isKept { arrival.settle() }
    }

    // MARK: Running

    func run(_ part: RunningPart) { content.change { $0.running.append(part) } }

    func forget(_ numbers: Set<Int>) {
        content.change { content in content.running.removeAll { numbers.contains($0.number) } }
    }

    // MARK: Taking

    /// Finds something in the content, now or later; see ``Watched/first(within:_:)``.
    func first<Found: Sendable>(
        within patience: Duration,
        _ look: @escaping @Sendable (inout Content) -> Found?
    ) async -> Found? {
        await content.first(within: patience, look)
    }

    /// The first arrival that matches, if there is one now.
    func takeNow(where matches: (Arrival) -> Bool) -> Arrival? { content.change { $0.take(where: matches) } }

    /// Lets those go on who sent what is not wanted any more.
    func sweep() {
        while let arrival = content.change({ $0.removeFirst { !$0.isWanted } }) { arrival.settle() }
    }

    /// Drops all that waits and forgets what runs.
    func clear() {
        content.change { $0.running = [] }
        while let arrival = content.change({ $0.removeFirst { _ in true } }) { arrival.settle() }
    }
}

extension Inbox.Content {
    /// Takes the first wanted arrival that matches.
    mutating func take(where matches: (Arrival) -> Bool) -> Arrival? { removeFirst { $0.isWanted && matches($0) } }

    fileprivate mutating func removeFirst(where matches: (Arrival) -> Bool) -> Arrival? {
        arrivals.firstIndex(where: matches).map { arrivals.remove(at: $0) }
    }
}
