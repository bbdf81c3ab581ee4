import StatecastThreading
import Synchronization

@testable import StatecastCore

/// An observer of the stress test that checks its changes.
///
/// Unchecked, and without a lock on purpose: a core delivers one change at a time, each after the one before.
/// ThreadSanitizer detects violations.
final class Follower<State: Sendable>: @unchecked Sendable {
    private let quitsAfter: Int
    private let check: (Change<State>) -> String?
    private let subscription = Box<Subscription>()
    /// The thread that has cancelled, or 0; set after `cancel()` has returned.
    private let canceller = Atomic<UInt>(0)
    private var hasQuit = false
    private var lateCount = 0
    private(set) var deliveredCount = 0
    private(set) var revision: UInt64?
    private(set) var faults: [String] = []

    /// - Parameters:
    ///   - quitsAfter: the number of changes after which it cancels from within; nil for never.
    ///   - check: returns the fault of a change.
    init(quitsAfter: Int? = nil, check: @escaping (Change<State>) -> String?) {
        self.quitsAfter = quitsAfter ?? .max
        self.check = check
    }

    func follow(_ source: some StateSource<State>) {
        subscription.set(source.observe(replay: .current) { [self] in receive($0) })
    }

    func cancel() {
        subscription.value?.cancel()
        canceller.store(Threads.currentID, ordering: .releasing)
    }

    private func receive(_ change: Change<State>) {
        deliveredCount += 1
        if hasQuit { faults.append("received \(change.revision) after it cancelled from within") }
        let canceller = canceller.load(ordering: .acquiring)
        if canceller == Threads.currentID {
            faults.append("received \(change.revision) on the thread that had cancelled")
        }
        if canceller != 0 {
            // On other threads, one running call may end.
            lateCount += 1
            if lateCount > 1 { faults.append("received \(change.revision), once more after it was cancelled") }
        }
        if (revision == nil) != (change.old == nil) {
            faults.append("a replay at \(change.revision), or none at first")
        }
        if let fault = check(change) { faults.append("\(change.revision): \(fault)") }
        revision = change.revision
        if deliveredCount >= quitsAfter, let subscription = subscription.value {
            subscription.cancel()
            hasQuit = true
        }
    }
}

extension Follower<Ledger> {
    /// Expects every revision from the replay on, each state following the one before.
    static func ofAll(quitsAfter: Int? = nil) -> Follower {
        var last: (state: Ledger, revision: UInt64)?
        return Follower(quitsAfter: quitsAfter) { change in
            defer { last = (change.new, change.revision) }
            guard let last else { return nil }
            if change.oldRevision != last.revision || change.revision != last.revision + 1 {
                return "follows \(last.revision)"
            }
            if change.old != last.state { return "not the old state that was delivered last" }
            if let action = change.action as? Ledger.Numbered, change.new.newest[action.thread] != action.number {
                return "not the state that follows from the action"
            }
            return nil
        }
    }
}

extension Follower<Int> {
    /// Expects a number that increases by one.
    static func ofCount() -> Follower {
        var last: Int?
        return Follower { change in
            defer { last = change.new }
            guard let last else { return nil }
            return change.old == last && change.new == last + 1 ? nil : "\(change.new) after \(last)"
        }
    }
}
