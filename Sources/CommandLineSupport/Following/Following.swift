package import Logging
internal import ServiceLifecycle
package import StateCoding
package import Statecast
internal import Synchronization

/// Shows the states of a store, one after the other.
package struct Following: Sendable {
    private let replica: Replica<Value>
    private let upstream: Upstream
    private let goal: FollowingGoal
    private let logger: Logger

    /// A command's way to follow.
    package init(_ replica: Replica<Value>, of upstream: Upstream, to goal: FollowingGoal, logger: Logger) {
        self.logger = logger
        self.replica = replica
        self.upstream = upstream
        self.goal = goal
    }

    /// Shows states until the goal is reached, the time is over or the process is asked to stop.
    ///
    /// - Throws: ``CommandFailure`` on a timeout, and where it is asked to stop before the last state; ``Rejection`` if the
    ///   store cannot be followed; ``OutputClosed``.
    package func run(_ display: some StateDisplay) async throws {
        let progress = Progress()
        do { try await cancelWhenGracefulShutdown { try await follow(display, progress) } } catch is CancellationError {
            // Asked to stop.
        }
        // Without a last state to wait for, that is how following ends.
        if goal.hasEnd, !progress.isDone { throw goal.interrupted(upstream, replica.snapshot) }
    }

    private func follow(_ display: some StateDisplay, _ progress: Progress) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await show(on: display, progress)
                return true
            }
            if let timeout = goal.timeout {
                group.addTask {
                    try await Task.sleep(for: timeout)
                    if goal.hasEnd || !progress.hasShown {
                        throw goal.timedOut(after: timeout, upstream, replica.snapshot)
                    }
                    return false
                }
            }
            for try await isDone in group where isDone { group.cancelAll() }
        }
    }

    /// Only a live state is shown as new. Where it does not follow from the one before it, that is said first.
    private func show(on display: some StateDisplay, _ progress: Progress) async throws {
        var display = display
        defer { display.close() }
        var latest: StateSnapshot<Value>?
        var isAbsenceSaid = false
        for await _ in replica.changes(every: display.interval) {
            try replica.checkIsFollowed()
            let status = replica.status
            let next =
                status == .live
                ? replica.snapshot.flatMap { $0.position.isNews(behind: latest?.position) ? $0 : nil } : nil
            if let next, let latest, let notice = next.position.notice(behind: latest.position, from: upstream) {
                logger.notice("\(notice)")
            }
            latest = next ?? latest
            let isLast = next.map(goal.isReached) ?? false
            let absence = next.flatMap(goal.absence)
            if isLast, let absence { throw CommandFailure.nothingSelected(absence) }
            if let absence, !isAbsenceSaid { logger.notice("\(absence)") }
            if next != nil { isAbsenceSaid = absence != nil }
            let view = FollowedState(
                upstream: upstream,
                status: status,
                position: latest?.position,
                part: latest.map { goal.part(of: $0.state) },
                isWhole: goal.select == nil,
                primaryTime: replica.primaryTime
            )
            try await display.show(view, isNew: next != nil, isLast: isLast)
            if next != nil { progress.setShown() }
            if isLast { return progress.setDone() }
        }
    }

    private final class Progress: Sendable {
        private let shown = Mutex(false)
        private let done = Mutex(false)
        /// Whether any state was shown.
        var hasShown: Bool { shown.withLock { $0 } }
        /// Whether the last state was shown.
        var isDone: Bool { done.withLock { $0 } }
        func setShown() { shown.withLock { $0 = true } }
        func setDone() { done.withLock { $0 = true } }
    }
}
