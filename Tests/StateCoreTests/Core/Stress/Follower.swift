import Synchronization

@testable import StateCore

/// One observer in the stress test, which checks what it is told.
///
/// Unchecked, and without a lock on purpose: a core tells an observer one change at a time, each behind the one before.
/// ThreadSanitizer sees whether that holds.
final class Follower<State: Sendable>: @unchecked Sendable {
    private let quitsAfter: Int
    private let check: (Change<State>) -> String?
    private let subscription = Box<Subscription>()
    /// The thread that has cancelled, or 0; set when `cancel()` has returned.
    private let canceller = Atomic<UInt>(0)
    private var hasQuit = false
    private var lateCount = 0
    private(set) var toldCount = 0
    private(set) var revision: UInt64?
    private(set) var faults: [String] = []

    /// - Parameters:
    ///   - quitsAfter: how many changes it lets itself be told before it cancels from within; nil if it does not.
    ///   - check: what is wrong with a change.
    init(quitsAfter: Int? = nil, check: @escaping (Change<State>) -> String?) {
        self.quitsAfter = quitsAfter ?? .max
        self.check = check
    }

    func follow(_ source: some StateSource<State>) {
        subscription.set(source.observe(replay: true) { [self] in take($0) })
    }

    func cancel() {
        subscription.value?.cancel()
        canceller.store(currentThread(), ordering: .releasing)
    }

    private func take(_ change: Change<State>) {
        toldCount += 1
        if hasQuit { faults.append("told \(change.revision) after it cancelled from within") }
        let canceller = canceller.load(ordering: .acquiring)
        if canceller == currentThread() { faults.append("told \(change.revision) on the thread that had cancelled") }
        if canceller != 0 {
            // On other threads the one call that was under way may end.
            lateCount += 1
            if lateCount > 1 { faults.append("told \(change.revision), once more after it was cancelled") }
        }
        if (revision == nil) != (change.old == nil) {
            faults.append("a replay at \(change.revision), or none at first")
        }
        if let fault = check(change) { faults.append("\(change.revision): \(fault)") }
        revision = change.revision
        if toldCount >= quitsAfter, let subscription = subscription.value {
            subscription.cancel()
            hasQuit = true
        }
    }
}

extension Follower<Ledger> {
    /// Follows all: every revision from the replay on, each state the successor of the one before.
    static func ofAll(quitsAfter: Int? = nil) -> Follower {
        var last: (state: Ledger, revision: UInt64)?
        return Follower(quitsAfter: quitsAfter) { change in
            defer { last = (change.new, change.revision) }
            guard let last else { return nil }
            if change.oldRevision != last.revision || change.revision != last.revision + 1 {
                return "follows \(last.revision)"
            }
            if change.old != last.state { return "another old state than was told" }
            if let action = change.action as? Ledger.Numbered, change.new.newest[action.thread] != action.number {
                return "not the state that the action led to"
            }
            return nil
        }
    }
}

extension Follower<Int> {
    /// Follows a number that counts up by one.
    static func ofCount() -> Follower {
        var last: Int?
        return Follower { change in
            defer { last = change.new }
            guard let last else { return nil }
            return change.old == last && change.new == last + 1 ? nil : "\(change.new) behind \(last)"
        }
    }
}
