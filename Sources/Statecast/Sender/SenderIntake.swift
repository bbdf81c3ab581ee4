internal import Synchronization

/// Where actions wait between those who submit them, on any thread, and the loop that sends them.
///
/// Taking an action costs a lock, not a hop to the loop: the loop is woken once for all that gathers until it comes.
/// What is without a receipt is bounded; beyond, those who submit wait.
final class SenderIntake: Sendable {
    /// An action that was taken.
    struct Taken {
        let ticket: Ticket
        let bytes: [UInt8]
        /// How far the input was taken with it, if that was said.
        let mark: InputMark?
        /// Why it is over before it leaves, if it is.
        let verdict: Rejection?
        let receipt: PendingReceipt

        /// As a session file keeps it.
        var saved: SavedAction {
            let outcome = verdict.map { SavedOutcome(sent: nil, settlement: .rejected($0)) }
            return SavedAction(ticket: ticket, position: mark?.position, bytes: bytes, outcome: outcome)
        }
    }

    /// Why an action was not taken.
    enum Refusal: Error {
        case closed
        case cancelled
        case timedOut
    }

    private struct Storage {
        var taken: [Taken] = []
        var ticketCount: UInt64 = 0
        var pending = 0
        /// Those who wait for room, the longest first.
        var waiters: [(key: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        var waiterCount: UInt64 = 0
        var isClosed = false
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

    /// Takes an action, once there is room. `wake` is called if the loop does not know yet that something is there.
    ///
    /// - Throws: ``Refusal``.
    func take(
        _ bytes: [UInt8],
        mark: InputMark? = nil,
        verdict: Rejection? = nil,
        until deadline: ContinuousClock.Instant?,
        wake: () -> Void
    ) async throws -> (Ticket, PendingReceipt) {
        while true {
            if let (ticket, receipt, isFirst) = try attempt(bytes, mark: mark, verdict: verdict) {
                if isFirst { wake() }
                return (ticket, receipt)
            }
            try await waitForRoom(until: deadline)
        }
    }

    /// Takes an action whether there is room or not, for those who cannot wait.
    ///
    /// - Throws: ``Refusal/closed``.
    func takeAtOnce(_ bytes: [UInt8], wake: () -> Void) throws {
        if try attempt(bytes, isAwaited: false)?.isFirst ?? false { wake() }
    }

    /// `nil` if there is no room. Who awaits nothing is not held back either.
    private func attempt(
        _ bytes: [UInt8],
        mark: InputMark? = nil,
        verdict: Rejection? = nil,
        isAwaited: Bool = true
    ) throws -> (Ticket, PendingReceipt, isFirst: Bool)? {
        try storage.withLock { storage in
            if storage.isClosed { throw Refusal.closed }
            guard storage.pending < pendingMax || !isAwaited else { return nil }
            storage.pending += 1
            storage.ticketCount += 1
            let ticket = Ticket(rawValue: storage.ticketCount)
            let receipt = PendingReceipt(ticket: ticket, isAwaited: isAwaited)
            storage.taken.append(Taken(ticket: ticket, bytes: bytes, mark: mark, verdict: verdict, receipt: receipt))
            return (ticket, receipt, storage.taken.count == 1)
        }
    }

    private func waitForRoom(until deadline: ContinuousClock.Instant?) async throws {
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
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = storage.withLock { storage in
                    if Task.isCancelled { return .failure(Refusal.cancelled) }
                    if storage.isClosed { return .failure(Refusal.closed) }
                    if storage.pending < pendingMax { return .success(()) }
                    if let deadline, deadline <= .now { return .failure(Refusal.timedOut) }
                    storage.waiters.append((key, continuation))
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
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

    /// Hands over what has gathered, in order.
    func drain() -> [Taken] {
        storage.withLock { storage in
            defer { storage.taken.removeAll(keepingCapacity: true) }
            return storage.taken
        }
    }

    /// So many actions have their outcome: as many may come.
    func settled(_ count: Int) {
        let waiters = storage.withLock { storage in
            storage.pending -= count
            let room = min(max(0, pendingMax - storage.pending), storage.waiters.count)
            defer { storage.waiters.removeFirst(room) }
            return storage.waiters.prefix(room)
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Nothing is taken any more.
    func close() {
        let waiters = storage.withLock { storage in
            storage.isClosed = true
            defer { storage.waiters = [] }
            return storage.waiters
        }
        for waiter in waiters { waiter.continuation.resume(throwing: Refusal.closed) }
    }
}
