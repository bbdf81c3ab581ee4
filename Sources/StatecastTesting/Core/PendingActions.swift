import StatecastCore

/// The queue of actions that effects and middlewares have sent to a test core and the test has not received.
final class PendingActions: ActionDispatcher {
    private let content = AwaitableValue(Content())

    /// The pending actions, and the parts of effects that may send more.
    struct Content: Sendable {
        fileprivate(set) var actions: [PendingAction] = []
        fileprivate(set) var running: [RunningPart] = []

        /// The pending actions whose effect is not cancelled.
        var wanted: [PendingAction] { actions.filter(\.isWanted) }

        /// Whether nothing more is sent until the test advances the time.
        var isIdle: Bool { running.allSatisfy(\.isTimer) }
    }

    /// A part of an effect that has not ended.
    struct RunningPart: Sendable {
        let number: Int
        let name: String
        let isTimer: Bool
    }

    /// A part of an effect sends it when it ends.
    struct PartEnded: Action {
        let number: Int
    }

    var current: Content { content.value }

    func dispatch(_ action: any Action) { enqueue(PendingAction(action: action, result: nil)) }

    /// Enqueues the action of an effect.
    func enqueue(_ result: EffectAction) {
        if let ended = result.action as? PartEnded {
            forget([ended.number])
            result.complete()
        } else {
            enqueue(PendingAction(action: result.action, result: result))
        }
    }

    private func enqueue(_ action: PendingAction) {
        let isKept = content.change { content in
            guard action.isWanted else { return false }
            content.actions.append(action)
            return true
        }
        if !isKept { action.resolve() }
    }

    func run(_ part: RunningPart) { content.change { $0.running.append(part) } }

    func forget(_ numbers: Set<Int>) {
        content.change { content in content.running.removeAll { numbers.contains($0.number) } }
    }

    /// Waits until `look` finds something; see ``AwaitableValue/first(within:_:)``.
    func first<Found: Sendable>(
        within patience: Duration,
        _ look: @escaping @Sendable (inout Content) -> Found?
    ) async -> Found? {
        await content.first(within: patience, look)
    }

    /// Dequeues the first wanted action that matches, if there is one now.
    func dequeue(where matches: (PendingAction) -> Bool) -> PendingAction? {
        content.change { $0.dequeue(where: matches) }
    }

    /// Drops the actions of cancelled effects.
    func dropUnwanted() {
        while let action = content.change({ $0.removeFirst { !$0.isWanted } }) { action.resolve() }
    }

    /// Drops all pending actions and forgets all running parts.
    func clear() {
        content.change { $0.running = [] }
        while let action = content.change({ $0.removeFirst { _ in true } }) { action.resolve() }
    }
}

extension PendingActions.Content: CustomStringConvertible {
    /// Lists the pending actions and the running parts, for a message.
    var description: String {
        func list(_ names: [String]) -> String { names.isEmpty ? "nothing" : names.joined(separator: ", ") }
        return "Waiting to be received: \(list(wanted.map(\.name))). Still running: \(list(running.map(\.name)))."
    }

    /// Dequeues the first wanted action that matches.
    mutating func dequeue(where matches: (PendingAction) -> Bool) -> PendingAction? {
        removeFirst { $0.isWanted && matches($0) }
    }

    fileprivate mutating func removeFirst(where matches: (PendingAction) -> Bool) -> PendingAction? {
        actions.firstIndex(where: matches).map { actions.remove(at: $0) }
    }
}

/// An action that waits to be received.
struct PendingAction: Sendable {
    let action: any Action
    /// Whether it was sent within a turn of the core, and so precedes the actions that effects send at their own pace.
    let isImmediate: Bool
    private let result: EffectAction?

    /// - Parameter result: the result of an effect; nil for an action that a middleware dispatched.
    fileprivate init(action: any Action, result: EffectAction?) {
        self.action = action
        self.result = result
        isImmediate = Turn.isUnderWay
    }

    var name: String { type(of: action).name }

    var isWanted: Bool { result?.isWanted ?? true }

    /// Resumes the sender. A sequence sends its next action within this turn.
    func resolve() { Turn.run { result?.complete() } }
}

/// A stretch of a test core's work. The order of actions sent within it does not depend on the pace of any effect.
enum Turn {
    private struct Worker {
        let task: Int?
    }

    @TaskLocal private static var worker: Worker?

    /// Runs `work` as one turn.
    static func run<Result>(_ work: () -> Result) -> Result {
        $worker.withValue(Worker(task: currentTask), operation: work)
    }

    /// Whether the caller is part of a turn. Tasks started in one are not, though they inherit its task-local values.
    static var isUnderWay: Bool { worker.map { $0.task == currentTask } ?? false }

    private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
}
