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
        let receipt: PendingReceipt
    }

    private struct Storage {
        var taken: [Taken] = []
        var count: UInt64 = 0
        var pending = 0
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isClosed = false
    }

    private let storage = Mutex(Storage())
    private let pendingMax: Int

    init(pendingMax: Int) { self.pendingMax = pendingMax }

    /// Takes an action, once there is room. `wake` is called if the loop does not know yet that something is there.
    ///
    /// - Returns: `nil` if the sender was closed.
    func take(_ bytes: [UInt8], wake: () -> Void) async -> (Ticket, PendingReceipt)? {
        while true {
            switch attempt(bytes) {
            case .closed: return nil
            case .taken(let ticket, let receipt, let isFirst):
                if isFirst { wake() }
                return (ticket, receipt)
            case .full: await waitForRoom()
            }
        }
    }

    private enum Attempt {
        case taken(Ticket, PendingReceipt, isFirst: Bool)
        case full
        case closed
    }

    private func attempt(_ bytes: [UInt8]) -> Attempt {
        storage.withLock { storage in
            if storage.isClosed { return .closed }
            guard storage.pending < pendingMax else { return .full }
            storage.pending += 1
            storage.count += 1
            let ticket = Ticket(rawValue: storage.count)
            let receipt = PendingReceipt()
            storage.taken.append(Taken(ticket: ticket, bytes: bytes, receipt: receipt))
            return .taken(ticket, receipt, isFirst: storage.taken.count == 1)
        }
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let mayGoOn = storage.withLock { storage in
                guard storage.pending >= pendingMax, !storage.isClosed else { return true }
                storage.waiters.append(continuation)
                return false
            }
            if mayGoOn { continuation.resume() }
        }
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
        for waiter in waiters { waiter.resume() }
    }

    /// Nothing is taken any more.
    func close() {
        let waiters = storage.withLock { storage in
            storage.isClosed = true
            defer { storage.waiters = [] }
            return storage.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
