package import Logging
import ServiceLifecycle
package import Statecast
package import StatecastCoding
import StatecastThreading

/// Shows a store's states as they arrive.
package struct StateFollower: Sendable {
    private let replica: Replica<Value>
    private let upstream: Upstream
    private let goal: FollowGoal
    private let logger: Logger

    package init(_ replica: Replica<Value>, of upstream: Upstream, to goal: FollowGoal, logger: Logger) {
        self.logger = logger
        self.replica = replica
        self.upstream = upstream
        self.goal = goal
    }

    /// Shows states until the goal is reached, the time limit expires or the process is asked to stop.
    ///
    /// - Throws: ``CommandFailure`` on a timeout, or if the process is asked to stop or the output is closed before the
    ///   last state; ``Rejection`` if the primary refuses the replica; ``OutputClosed`` without a last state.
    package func run(_ display: some StateDisplay) async throws {
        let progress = Progress()
        do { try await cancelWhenGracefulShutdown { try await follow(display, progress) } } catch is CancellationError {
            // The process was asked to stop; without a goal that is the normal end.
        } catch is OutputClosed where goal.hasEnd {
            throw CommandFailure.failed(
                "standard output is closed: the state of --once or --until was not printed"
            )
        }
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

    /// Counts only live states as new. Logs a notice before a state that does not continue the previous one.
    private func show(on display: some StateDisplay, _ progress: Progress) async throws {
        var display = display
        var latest: StateSnapshot<Value>?
        var wasAbsent = false
        for await _ in replica.changes(every: display.interval) {
            try replica.checkIsFollowed()
            let status = replica.status
            let next =
                status == .live
                ? replica.snapshot.flatMap { $0.position.isNew(after: latest?.position) ? $0 : nil } : nil
            if let next, let latest, let notice = next.position.notice(after: latest.position, from: upstream) {
                logger.notice("\(notice)")
            }
            latest = next ?? latest
            let isLast = next.map(goal.isReached) ?? false
            let absence = next.flatMap(goal.absence)
            if isLast, let absence { throw CommandFailure.nothingSelected(absence) }
            if let absence, !wasAbsent { logger.notice("\(absence)") }
            if next != nil { wasAbsent = absence != nil }
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
        private let shown = Locked(false)
        private let done = Locked(false)
        /// Whether any state was shown.
        var hasShown: Bool { shown.withLock { $0 } }
        /// Whether the last state was shown.
        var isDone: Bool { done.withLock { $0 } }
        func setShown() { shown.withLock { $0 = true } }
        func setDone() { done.withLock { $0 = true } }
    }
}

extension Replica {
    /// Signals each change of the state or the status, and each interval. Signals that nothing consumed yet are one.
    ///
    /// Read ``snapshot`` and ``status`` on a signal: a status is never ahead of its state.
    fileprivate func changes(every interval: Duration?) -> AsyncStream<Void> {
        let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        var tasks = [
            Task {
                for await _ in snapshots { signal.yield() }
                signal.finish()
            },
            Task { for await _ in statuses { signal.yield() } },
        ]
        if let interval {
            tasks.append(
                Task {
                    while (try? await Task.sleep(for: interval)) != nil { signal.yield() }
                }
            )
        }
        signal.onTermination = { [tasks] _ in
            for task in tasks { task.cancel() }
        }
        return signals
    }

    /// Throws the reason if the primary refuses the replica, or its state is incompatible.
    fileprivate func checkIsFollowed() throws {
        switch status {
        case .joining, .live, .stale: break
        case .refused(let reason), .incompatible(let reason): throw reason
        }
    }
}

extension Position {
    /// Whether to show its state after the one at `shown`: it is later in the same lineage, of another lineage, or of a
    /// newer epoch whose primary lost the last changes.
    func isNew(after shown: Position?) -> Bool {
        guard let shown, shown.lineage == lineage else { return true }
        return revision > shown.revision || isRewound(from: shown)
    }

    /// The notice for a state that does not continue the one at `shown`; otherwise `nil`.
    func notice(after shown: Position, from upstream: Upstream) -> String? {
        if shown.lineage != lineage {
            return
                "the primary at \(upstream.endpoint) began a new history: revision \(revision) of lineage \(lineage) "
                + "follows revision \(shown.revision) of lineage \(shown.lineage)"
        }
        guard isRewound(from: shown) else { return nil }
        return
            "the primary at \(upstream.endpoint) lost changes and went back: revision \(revision) of epoch \(epoch) "
            + "follows revision \(shown.revision) of epoch \(shown.epoch)"
    }

    private func isRewound(from shown: Position) -> Bool { epoch > shown.epoch && revision < shown.revision }
}
