internal import Threading

/// Where observers wait to be let in to an audience, or out of it, by whoever tells it.
///
/// Nothing is released with the lock held: an observer's body may hold what comes back here when it goes.
final class Lobby<State: Sendable>: Sendable {
    private struct Newcomer {
        let observer: Listener<Change<State>>
        let replay: Bool
        let order: UInt64
    }

    private struct Requests {
        var joins: [ObjectIdentifier: Newcomer] = [:]
        /// Of observers that were let in already.
        var leaves: [Listener<Change<State>>] = []
    }

    private struct Storage {
        var requests = Requests()
        var count: UInt64 = 0
        var isClosed = false
    }

    private let storage = Locked(Storage())

    /// Waits to be let in; in vain once the lobby is closed, which then does not keep the observer.
    func join(_ observer: Listener<Change<State>>, replay: Bool) {
        storage.withLock { storage in
            guard !storage.isClosed else { return }
            storage.count += 1
            storage.requests.joins[ObjectIdentifier(observer)] =
                Newcomer(observer: observer, replay: replay, order: storage.count)
        }
    }

    /// Whoever still waits to be let in is forgotten at once, also where nobody lets anybody in or out.
    func leave(_ observer: Listener<Change<State>>) {
        storage.withLock { storage in
            guard storage.requests.joins.removeValue(forKey: ObjectIdentifier(observer)) == nil else { return }
            if !storage.isClosed { storage.requests.leaves.append(observer) }
        }
    }

    /// Lets out and in those who wait, the latter in the order in which they came.
    func admit(to audience: inout Audience<State>) {
        let requests = takeRequests()
        // Not under the lock: an observer that is shown the state may come back.
        for observer in requests.leaves { audience.leave(observer) }
        for newcomer in requests.joins.values.sorted(by: { $0.order < $1.order }) {
            audience.join(newcomer.observer, replay: newcomer.replay)
        }
    }

    /// Forgets those who wait, and lets nobody in any more.
    func close() { _ = takeRequests(closing: true) }

    private func takeRequests(closing: Bool = false) -> Requests {
        storage.withLock { storage in
            if closing { storage.isClosed = true }
            defer { storage.requests = Requests() }
            return storage.requests
        }
    }
}
