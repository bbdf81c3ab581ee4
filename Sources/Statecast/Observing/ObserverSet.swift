import StatecastThreading

/// The observers of one state, in the order of registration, and the state that they were shown last.
///
/// Its owner shows one state at a time. Each change starts at the state that was shown before, even where the history
/// is not continuous: when a replica joins another lineage.
struct ObserverSet<State: Sendable>: Sendable {
    private struct Entry {
        let observer: Listener<Change<State>>
        /// Whether the first state is its replay: none existed when it registered.
        let awaitsFirst: Bool
    }

    /// A class: an optional of it has the same layout for all states. That of a tuple is looked up at each use.
    private final class Shown: Sendable {
        let state: State
        let revision: UInt64

        init(_ state: State, revision: UInt64) { (self.state, self.revision) = (state, revision) }
    }

    private var entries: [Entry] = []
    private var shown: Shown?

    // `isEmpty` of a generic array looks up metadata.
    var isEmpty: Bool { entries.count == 0 }

    /// Adds an observer, and shows it the current state if it asks for a replay. One that is cancelled already is not
    /// added, since no later call would remove it.
    mutating func insert(_ observer: Listener<Change<State>>, replay: Replay) {
        guard observer.isActive else { return }
        entries.append(Entry(observer: observer, awaitsFirst: replay == .current && shown == nil))
        if replay == .current, let shown { observer.deliver(Change(replay: shown.state, revision: shown.revision)) }
    }

    mutating func remove(_ observer: Listener<Change<State>>) { entries.removeAll { $0.observer === observer } }

    /// Shows the next state. The first state is no change: only observers that asked for a replay receive it.
    mutating func show(_ state: State, revision: UInt64) {
        let old = shown
        shown = Shown(state, revision: revision)
        guard let old else {
            for entry in entries where entry.awaitsFirst {
                entry.observer.deliver(Change(replay: state, revision: revision))
            }
            return
        }
        if isEmpty { return }
        let change = Change(old: old.state, oldRevision: old.revision, new: state, revision: revision, action: nil)
        for entry in entries { entry.observer.deliver(change) }
    }
}

/// Observers that wait until the owner of an ``ObserverSet`` adds or removes them. Callable from any thread.
///
/// Nothing is released with the lock held: a callback may own an object whose `deinit` calls this object again.
final class PendingObservers<State: Sendable>: Sendable {
    private struct Insertion {
        let observer: Listener<Change<State>>
        let replay: Replay
        let order: UInt64
    }

    private struct Requests {
        var insertions: [ObjectIdentifier: Insertion] = [:]
        /// Of observers that are in the set already.
        var removals: [Listener<Change<State>>] = []
    }

    private struct Storage {
        var requests = Requests()
        var count: UInt64 = 0
        var isClosed = false
    }

    private let storage = Locked(Storage())

    /// Whether nothing is requested.
    var isEmpty: Bool { storage.withLock { $0.requests.insertions.isEmpty && $0.requests.removals.isEmpty } }

    /// Requests that an observer is added. After ``close()`` the observer is not kept.
    func insert(_ observer: Listener<Change<State>>, replay: Replay) {
        storage.withLock { storage in
            guard !storage.isClosed else { return }
            storage.count += 1
            storage.requests.insertions[ObjectIdentifier(observer)] =
                Insertion(observer: observer, replay: replay, order: storage.count)
        }
    }

    /// Requests that an observer is removed. A pending observer is removed immediately, whether the
    /// requests are applied later or not.
    func remove(_ observer: Listener<Change<State>>) {
        storage.withLock { storage in
            guard storage.requests.insertions.removeValue(forKey: ObjectIdentifier(observer)) == nil else { return }
            if !storage.isClosed { storage.requests.removals.append(observer) }
        }
    }

    /// Applies the requests: removals, then insertions in the order of their registration.
    func apply(to observers: inout ObserverSet<State>) {
        let requests = drain()
        // Not with the lock held: an observer that is shown the state may call back.
        for observer in requests.removals { observers.remove(observer) }
        for insertion in requests.insertions.values.sorted(by: { $0.order < $1.order }) {
            observers.insert(insertion.observer, replay: insertion.replay)
        }
    }

    /// Forgets all requests, and accepts no more.
    func close() { _ = drain(closing: true) }

    private func drain(closing: Bool = false) -> Requests {
        storage.withLock { storage in
            if closing { storage.isClosed = true }
            defer { storage.requests = Requests() }
            return storage.requests
        }
    }
}
