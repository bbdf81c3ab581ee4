internal import DequeModule
internal import SyncProtocol
internal import Threading
internal import ZeroMQ

/// The queue of actions between submitters, on any thread, and the loop that sends them.
///
/// Enqueueing costs a lock, not a hop to the loop: the first action in an empty queue wakes the loop, which dequeues
/// all of them. The number of awaited actions without an outcome is bounded; further submitters wait in order of
/// arrival.
final class SenderIntake: Sendable {
    /// An action to be sent.
    struct Submission {
        let bytes: [UInt8]
        /// The position in the input after this action, if the submitter passed one.
        var mark: InputMark?
        /// The rejection of input that is no action, and is not sent.
        var verdict: Rejection?
    }

    /// An action with its ticket.
    struct QueuedAction {
        let ticket: Ticket
        let submission: Submission
        let receipt: PendingReceipt

        /// The action for the session file.
        var saved: SavedAction {
            let outcome = submission.verdict.map { SavedOutcome(sent: nil, resolution: .rejected($0)) }
            return SavedAction(
                ticket: ticket,
                position: submission.mark?.position,
                bytes: submission.bytes,
                outcome: outcome
            )
        }
    }

    /// Why an action was not enqueued.
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
        var queue: [QueuedAction] = []
        var ticketCount: UInt64 = 0
        /// The number of awaited actions without an outcome.
        var pending = 0
        /// Submitters that wait for room, in order of arrival.
        var waiters: Deque<Waiter> = []
        var waiterCount: UInt64 = 0
        /// `nil` before the loop runs.
        var bell: Doorbell?
        /// Why no more actions are accepted.
        var end: String?
        /// The lock of all receipts.
        let receiptLock = Lock()

        mutating func enqueue(_ submission: Submission, isAwaited: Bool) -> PendingReceipt {
            ticketCount += 1
            if isAwaited { pending += 1 }
            let receipt = PendingReceipt(
                ticket: Ticket(rawValue: ticketCount),
                isAwaited: isAwaited,
                lock: receiptLock
            )
            queue.append(QueuedAction(ticket: Ticket(rawValue: ticketCount), submission: submission, receipt: receipt))
            return receipt
        }

        /// The bell to ring after an action was enqueued in the empty queue.
        func bell(countBefore: Int) -> Doorbell? { countBefore == 0 && !queue.isEmpty ? bell : nil }
    }

    private let storage: Locked<Storage>
    private let pendingMax: Int

    /// - Parameters:
    ///   - last: the last ticket of an earlier process.
    ///   - pending: the number of its actions without a receipt.
    init(pendingMax: Int, after last: Ticket = Ticket(rawValue: 0), pending: Int = 0) {
        self.pendingMax = pendingMax
        storage = Locked(Storage(ticketCount: last.rawValue, pending: pending))
    }

    // MARK: From any thread

    /// Enqueues an action once there is room for it and for all submitters before.
    ///
    /// - Throws: ``Refusal``.
    func enqueue(_ submission: Submission, until deadline: ContinuousClock.Instant?) async throws -> PendingReceipt {
        if let receipt = try attempt(submission, isAwaited: true) { return receipt }
        return try await waitForRoom(submission, until: deadline)
    }

    /// Enqueues an action regardless of the bound, for submitters that cannot wait. It does not count against the
    /// bound.
    ///
    /// - Throws: ``Refusal/closed(because:)``.
    func enqueueAtOnce(_ bytes: [UInt8]) throws { _ = try attempt(Submission(bytes: bytes), isAwaited: false) }

    /// `nil` if there is no room.
    private func attempt(_ submission: Submission, isAwaited: Bool) throws -> PendingReceipt? {
        let (receipt, bell) = try storage.withLock { storage -> (PendingReceipt?, Doorbell?) in
            if let end = storage.end { throw Refusal.closed(because: end) }
            guard !isAwaited || (storage.pending < pendingMax && storage.waiters.isEmpty) else { return (nil, nil) }
            let count = storage.queue.count
            let receipt = storage.enqueue(submission, isAwaited: isAwaited)
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
                self.removeWaiter(key, .timedOut)
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
                // Room may have become available before the waiter was added.
                admitWaiters()
            }
        } onCancel: {
            removeWaiter(key, .cancelled)
        }
    }

    private func removeWaiter(_ key: UInt64, _ reason: Refusal) {
        let waiter = storage.withLock { storage in
            storage.waiters.firstIndex { $0.key == key }.map { storage.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(throwing: reason)
    }

    /// Enqueues the actions of waiting submitters, in order of arrival, while there is room.
    private func admitWaiters(after change: (inout Storage) -> Void = { _ in }) {
        let (admitted, bell) = storage.withLock { storage in
            change(&storage)
            let count = storage.queue.count
            var admitted: [(waiter: Waiter, receipt: PendingReceipt)] = []
            while storage.pending < pendingMax, let waiter = storage.waiters.popFirst() {
                admitted.append((waiter, storage.enqueue(waiter.submission, isAwaited: true)))
            }
            return (admitted, storage.bell(countBefore: count))
        }
        bell?.ring()
        for (waiter, receipt) in admitted { waiter.continuation.resume(returning: receipt) }
    }

    /// The number of submitters that wait for room.
    var waitingCount: Int { storage.withLock { $0.waiters.count } }

    // MARK: From the loop

    /// The loop runs, and dequeues when the bell rings. Actions that were enqueued before this call did not ring it.
    func open(_ bell: Doorbell) { storage.withLock { $0.bell = bell } }

    /// Dequeues all actions, in order.
    func dequeueAll() -> [QueuedAction] {
        storage.withLock { storage in
            defer { storage.queue.removeAll(keepingCapacity: true) }
            return storage.queue
        }
    }

    /// Releases the slot of an action that has its outcome, and resumes a waiting submitter.
    func release(_ receipt: PendingReceipt) {
        guard receipt.isAwaited else { return }
        admitWaiters { $0.pending -= 1 }
    }

    /// Accepts no more actions.
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
