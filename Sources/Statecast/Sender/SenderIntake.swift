import StatecastProtocol
import StatecastThreading

/// The actions between submitters, on any thread, and the loop that sends them.
///
/// An encoded action is appended to a buffer, which costs a lock, not a hop to the loop. The loop is woken when the
/// buffer reaches the size that it has set, and takes the whole buffer as a chunk. The number of awaited actions
/// without an outcome is bounded; further submitters wait in order of arrival.
package final class SenderIntake: Sendable {
    /// An action that waits for room, or input that is no action.
    struct Submission {
        let bytes: [UInt8]
        /// The position in the input after this action, if the submitter passed one.
        var mark: InputMark?
        /// The rejection of input that is no action, and is not sent.
        var rejection: Rejection?
    }

    /// The actions that the loop takes at once.
    struct Drained {
        let chunk: ActionChunk
        /// When its first action was enqueued.
        let began: ContinuousClock.Instant
        /// The pages whose first action is in the chunk.
        let pages: [ReceiptPage]
        /// The actions of which no caller awaits the outcome.
        let dispatched: [Range<Ticket>]
    }

    /// When a submitter stops waiting for room, and why.
    struct Deadline {
        let instant: ContinuousClock.Instant
        let cause: String
    }

    /// The result of enqueueing without waiting.
    package enum Attempt {
        case enqueued(PendingReceipt)
        /// There is no room. Contains a copy of the action.
        case noRoom([UInt8])
        case closed(because: String)
    }

    /// A submitter that waits for room.
    private struct Waiting {
        let submission: Submission
        let deadline: Deadline?
    }

    /// Wakes the loop; from any thread.
    typealias Trigger = @Sendable () -> Void

    private typealias Waiters = WaiterList<Waiting, PendingReceipt>

    private struct Storage: HasWaiters {
        var chunk: ActionChunk
        /// When the first action of the chunk was enqueued.
        var began = ContinuousClock.now
        /// The page of the last action.
        var page: ReceiptPage?
        var newPages: [ReceiptPage] = []
        var dispatched: [Range<Ticket>] = []
        /// The number of awaited actions without an outcome.
        var pending = 0
        /// Submitters that wait for room, in order of arrival.
        var waiters = Waiters()
        /// Buffers of earlier chunks.
        var spareBuffers: [[UInt8]] = []
        /// `nil` before the loop runs.
        var trigger: Trigger?
        /// The size of the buffer at which the trigger fires.
        var triggerBytes = 1
        /// Why no more actions are accepted.
        var end: String?

        mutating func enqueue(isAwaited: Bool, _ add: (inout ActionChunk) -> Void) -> PendingReceipt {
            let ticket = chunk.end
            if ticket == chunk.first { began = .now }
            add(&chunk)
            if isAwaited {
                pending += 1
            } else if let last = dispatched.last, last.upperBound == ticket {
                dispatched[dispatched.count - 1] = last.lowerBound..<ticket.next
            } else {
                dispatched.append(ticket..<ticket.next)
            }
            if let page, ticket < page.tickets.upperBound { return PendingReceipt(page, ticket) }
            let page = ReceiptPage(first: ticket)
            self.page = page
            newPages.append(page)
            return PendingReceipt(page, ticket)
        }

        mutating func enqueue(_ submission: Submission) -> PendingReceipt {
            enqueue(isAwaited: true) { chunk in
                if let rejection = submission.rejection {
                    chunk.append(invalid: rejection, mark: submission.mark)
                } else {
                    chunk.append(submission.bytes, mark: submission.mark)
                }
            }
        }

        /// The trigger to fire after actions were enqueued.
        func triggerToFire(bytesBefore: Int) -> Trigger? {
            bytesBefore < triggerBytes && chunk.bytes.count >= triggerBytes ? trigger : nil
        }
    }

    private let storage: Locked<Storage>
    private let maxPending: Int

    /// The maximum number of buffers that are kept for further chunks, and the maximum size of each.
    private static let maxSpareBuffers = 8
    private static let maxSpareBytes = 1 << 20

    /// - Parameters:
    ///   - last: the last ticket of an earlier process.
    ///   - pending: the number of its actions without a receipt.
    package init(maxPending: Int, after last: Ticket = Ticket(rawValue: 0), pending: Int = 0) {
        self.maxPending = maxPending
        storage = Locked(Storage(chunk: ActionChunk(first: last.next), pending: pending))
    }

    // MARK: From any thread

    /// Enqueues an encoded action if there is room for it and for all submitters before.
    ///
    /// - Parameter isAwaited: whether it counts against the bound; others are enqueued regardless of it.
    package func attempt(_ action: UnsafeBufferPointer<UInt8>, mark: InputMark? = nil, isAwaited: Bool = true)
        -> Attempt
    {
        let (attempt, trigger) = storage.withLock { storage -> (Attempt, Trigger?) in
            if let end = storage.end { return (.closed(because: end), nil) }
            guard !isAwaited || (storage.pending < maxPending && storage.waiters.count == 0) else {
                return (.noRoom(Array(action)), nil)
            }
            let bytes = storage.chunk.bytes.count
            let receipt = storage.enqueue(isAwaited: isAwaited) { $0.append(action, mark: mark) }
            return (.enqueued(receipt), storage.triggerToFire(bytesBefore: bytes))
        }
        trigger?()
        return attempt
    }

    /// Enqueues an action once there is room for it and for all submitters before.
    ///
    /// - Returns: the receipt of a refused action if it was not enqueued.
    func enqueue(_ submission: Submission, until deadline: Deadline?) async -> PendingReceipt {
        let (receipt, trigger) = storage.withLock { storage -> (PendingReceipt?, Trigger?) in
            if let end = storage.end { return (.notSent(because: end), nil) }
            guard storage.pending < maxPending, storage.waiters.count == 0 else { return (nil, nil) }
            let bytes = storage.chunk.bytes.count
            let receipt = storage.enqueue(submission)
            return (receipt, storage.triggerToFire(bytesBefore: bytes))
        }
        trigger?()
        if let receipt { return receipt }
        return await waitForRoom(submission, until: deadline)
    }

    private func waitForRoom(_ submission: Submission, until deadline: Deadline?) async -> PendingReceipt {
        let alarm = deadline.map { deadline in
            Task {
                try await Task.sleep(until: deadline.instant, clock: .continuous)
                self.refuseWaiters(at: deadline.instant)
            }
        }
        defer { alarm?.cancel() }
        var trigger: Trigger?
        let receipt = try? await storage.wait(for: Waiting(submission: submission, deadline: deadline)) {
            storage -> PendingReceipt? in
            if let end = storage.end { return .notSent(because: end) }
            if let deadline, deadline.instant <= .now { return .notSent(because: deadline.cause) }
            // Room may have become available meanwhile.
            guard storage.pending < maxPending, storage.waiters.count == 0 else { return nil }
            let bytes = storage.chunk.bytes.count
            defer { trigger = storage.triggerToFire(bytesBefore: bytes) }
            return storage.enqueue(submission)
        }
        trigger?()
        return receipt ?? .notSent(because: "the waiting was cancelled")
    }

    private func refuseWaiters(at instant: ContinuousClock.Instant) {
        let refused = storage.withLock { storage in
            storage.waiters.removeAll { waiting in waiting.deadline.map { $0.instant <= instant } ?? false }
        }
        for waiter in refused {
            guard let cause = waiter.wanted.deadline?.cause else { continue }
            waiter.resume(returning: .notSent(because: cause))
        }
    }

    /// The number of submitters that wait for room.
    var waitingCount: Int { storage.withLock { $0.waiters.count } }

    // MARK: From the loop

    /// The loop runs, and dequeues when the trigger fires. Actions that were enqueued before this call did not fire it.
    func open(_ trigger: @escaping Trigger) { storage.withLock { $0.trigger = trigger } }

    /// Sets the size of the buffer at which the trigger fires, at least 1; at once if the buffer has it.
    func fireTrigger(at minBytes: Int) {
        let trigger = storage.withLock { storage in
            storage.triggerBytes = max(1, minBytes)
            return storage.triggerToFire(bytesBefore: 0)
        }
        trigger?()
    }

    /// Dequeues all actions, in order.
    ///
    /// - Parameter minBytes: the minimum size of the chunk.
    /// - Returns: `nil` if the buffer is smaller.
    func drain(minBytes: Int = 1) -> Drained? {
        storage.withLock { storage in
            guard storage.chunk.bytes.count >= minBytes else { return nil }
            let next = ActionChunk(first: storage.chunk.end, reusing: storage.spareBuffers.popLast() ?? [])
            defer { (storage.chunk, storage.newPages, storage.dispatched) = (next, [], []) }
            return Drained(
                chunk: storage.chunk,
                began: storage.began,
                pages: storage.newPages,
                dispatched: storage.dispatched
            )
        }
    }

    /// Takes back the buffer of a chunk whose actions all have their outcome.
    func reuse(_ buffer: [UInt8]) {
        guard buffer.capacity <= Self.maxSpareBytes else { return }
        // The caller may refer to it, too, for now. The next chunk empties it, and by then is its only owner.
        storage.withLock { storage in
            if storage.spareBuffers.count < Self.maxSpareBuffers { storage.spareBuffers.append(buffer) }
        }
    }

    /// Releases the slots of awaited actions that have their outcome, and admits waiting submitters in order.
    func release(_ count: Int) {
        guard count > 0 else { return }
        let (admitted, trigger) = storage.withLock { storage in
            storage.pending -= count
            let bytes = storage.chunk.bytes.count
            var admitted: [(waiter: Waiters.Waiter, receipt: PendingReceipt)] = []
            while storage.pending < maxPending, let waiter = storage.waiters.popFirst() {
                admitted.append((waiter, storage.enqueue(waiter.wanted.submission)))
            }
            return (admitted, storage.triggerToFire(bytesBefore: bytes))
        }
        trigger?()
        for (waiter, receipt) in admitted { waiter.resume(returning: receipt) }
    }

    /// Accepts no more actions.
    func close(because cause: String) {
        let waiters = storage.withLock { storage in
            storage.end = storage.end ?? cause
            storage.trigger = nil
            return storage.waiters.removeAll { _ in true }
        }
        for waiter in waiters { waiter.resume(returning: .notSent(because: cause)) }
    }
}
