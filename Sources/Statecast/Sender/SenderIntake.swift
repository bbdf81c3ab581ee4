internal import DequeModule
internal import SyncProtocol
internal import Synchronization
internal import ZeroMQ

/// Where actions wait between those who submit them, on any thread, and the loop that sends them.
///
/// Taking an action costs a lock, not a hop to the loop: the loop is woken once for all that gathers until it comes.
/// Awaited actions without an outcome are bounded; beyond, those who submit wait for their turn, in order of arrival.
final class SenderIntake: Sendable {
    /// An action that is to be sent.
    struct Submission {
        let bytes: [UInt8]
        /// How far the input was taken with it, if that was said.
        var mark: InputMark?
        /// Why it is over before it leaves, if it is.
        var verdict: Rejection?
    }

    /// An action that was taken.
    struct Taken {
        let ticket: Ticket
        let submission: Submission
        let receipt: PendingReceipt

        /// As a session file keeps it.
        var saved: SavedAction {
            let outcome = submission.verdict.map { SavedOutcome(sent: nil, settlement: .rejected($0)) }
            return SavedAction(
                ticket: ticket,
                position: submission.mark?.position,
                bytes: submission.bytes,
                outcome: outcome
            )
        }
    }

    /// Why an action was not taken.
    enum Refusal: Error, Equatable {
        case closed(because: String)
        case cancelled
        case timedOut
    }

    private struct Waiter {
        let key: UInt64
        let submission: Submission
        let continuation: CheckedContinuation<PendingReceipt, any Error>
    }

    private struct Storage {
        var taken: [Taken] = []
        var ticketCount: UInt64 = 0
        /// Awaited actions that have no outcome.
        var pending = 0
        /// Those who wait for room, the longest first.
        var waiters: Deque<Waiter> = []
        var waiterCount: UInt64 = 0
        /// `nil` before the loop is there.
        var bell: Doorbell?
        /// Why nothing is taken any more.
        var end: String?

        mutating func take(_ submission: Submission, isAwaited: Bool) -> PendingReceipt {
            ticketCount += 1
            if isAwaited { pending += 1 }
            let receipt = PendingReceipt(ticket: Ticket(rawValue: ticketCount), isAwaited: isAwaited)
            taken.append(Taken(ticket: Ticket(rawValue: ticketCount), submission: submission, receipt: receipt))
            return receipt
        }

        /// What to ring after something was taken, unless the loop knows already that something is there.
        func bell(countBefore: Int) -> Doorbell? { countBefore == 0 && !taken.isEmpty ? bell : nil }
    }

    private let storage = Mutex(Storage())
    private let pendingMax: Int

    init(pendingMax: Int) { self.pendingMax = pendingMax }

    /// Goes on behind the last ticket of an earlier process, with so many of its actions without a receipt.
    init(pendingMax: Int, behind last: Ticket, pending: Int) {
        self.pendingMax = pendingMax
        storage.withLock { storage in
            storage.ticketCount = last.rawValue
            storage.pending = pending
        }
    }

    // MARK: From any thread

    /// Takes an action, once there is room for it and for all that came before.
    ///
    /// - Throws: ``Refusal``.
    func take(_ submission: Submission, until deadline: ContinuousClock.Instant?) async throws -> PendingReceipt {
        if let receipt = try attempt(submission, isAwaited: true) { return receipt }
        return try await waitForRoom(submission, until: deadline)
    }

    /// Takes an action whether there is room or not, for those who cannot wait. It takes no room from those who can.
    ///
    /// - Throws: ``Refusal/closed(because:)``.
    func takeAtOnce(_ bytes: [UInt8]) throws { _ = try attempt(Submission(bytes: bytes), isAwaited: false) }

    /// `nil` if there is no room.
    private func attempt(_ submission: Submission, isAwaited: Bool) throws -> PendingReceipt? {
        let (receipt, bell) = try storage.withLock { storage -> (PendingReceipt?, Doorbell?) in
            if let end = storage.end { throw Refusal.closed(because: end) }
            guard !isAwaited || (storage.pending < pendingMax && storage.waiters.isEmpty) else { return (nil, nil) }
            let count = storage.taken.count
            let receipt = storage.take(submission, isAwaited: isAwaited)
            return (receipt, storage.bell(countBefore: count))
        }
        bell?.ring()
        return receipt
    }

    private func waitForRoom(
        _ submission: Submission,
        until deadline: ContinuousClock.Instant?
    ) async throws -> PendingReceipt {
        let key = storage.withLock { storage in
            storage.waiterCount += 1
            return storage.waiterCount
        }
        let alarm = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline, clock: .continuous)
                self.leave(key, .timedOut)
            }
        }
        defer { alarm?.cancel() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let refusal: Refusal? = storage.withLock { storage in
                    if Task.isCancelled { return .cancelled }
                    if let end = storage.end { return .closed(because: end) }
                    if let deadline, deadline <= .now { return .timedOut }
                    storage.waiters.append(Waiter(key: key, submission: submission, continuation: continuation))
                    return nil
                }
                if let refusal { return continuation.resume(throwing: refusal) }
                // Room may have come before it stood in line.
                letIn()
            }
        } onCancel: {
            leave(key, .cancelled)
        }
    }

    private func leave(_ key: UInt64, _ reason: Refusal) {
        let waiter = storage.withLock { storage in
            storage.waiters.firstIndex { $0.key == key }.map { storage.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: reason)
    }

    /// Takes the actions of waiting submitters, in order of arrival, while there is room.
    private func letIn(after change: (inout Storage) -> Void = { _ in }) {
        let (admitted, bell) = storage.withLock { storage in
            change(&storage)
            let count = storage.taken.count
            var admitted: [(waiter: Waiter, receipt: PendingReceipt)] = []
            while storage.pending < pendingMax, let waiter = storage.waiters.popFirst() {
                admitted.append((waiter, storage.take(waiter.submission, isAwaited: true)))
            }
            return (admitted, storage.bell(countBefore: count))
        }
        bell?.ring()
        for (waiter, receipt) in admitted { waiter.continuation.resume(returning: receipt) }
    }

    /// How many wait for room.
    var waitingCount: Int { storage.withLock { $0.waiters.count } }

    // MARK: From the loop

    /// The loop runs and drains the intake when the bell rings. Actions taken before this call did not ring it.
    func open(_ bell: Doorbell) { storage.withLock { $0.bell = bell } }

    /// Hands over what has gathered, in order.
    func drain() -> [Taken] {
        storage.withLock { storage in
            defer { storage.taken.removeAll(keepingCapacity: true) }
            return storage.taken
        }
    }

    /// An action has its outcome: if it was awaited, the next one may come.
    func settled(_ receipt: PendingReceipt) {
        guard receipt.isAwaited else { return }
        letIn { $0.pending -= 1 }
    }

    /// Nothing is taken any more.
    func close(because cause: String) {
        let waiters = storage.withLock { storage in
            storage.end = storage.end ?? cause
            storage.bell = nil
            defer { storage.waiters = [] }
            return storage.waiters
        }
        for waiter in waiters { waiter.continuation.resume(throwing: Refusal.closed(because: cause)) }
    }
}
