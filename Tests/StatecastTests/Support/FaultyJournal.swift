import Foundation
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A journal whose disk a test can fill, free, block and break.
final class FaultyJournal: Journal {
    private let journal: any Journal
    private let failure = Locked<(reason: JournalFailure, count: Int)?>(nil)
    private let place = Locked<JournalFailure?>(nil)
    private let takesSnapshots: Bool
    private let forgets = Locked(false)

    init(_ journal: any Journal = MemoryJournal(), takesSnapshots: Bool = true) {
        self.journal = journal
        self.takesSnapshots = takesSnapshots
    }

    /// Makes the next `count` appends fail, or appends succeed again.
    func fail(_ failure: JournalFailure?, count: Int = .max) {
        self.failure.withLock { $0 = failure.map { ($0, count) } }
    }

    /// Makes the checks of the journal's place fail, as after a replacement of its files, or succeed again.
    func move(_ failure: JournalFailure?) { place.withLock { $0 = failure } }

    private func nextFailure() -> JournalFailure? {
        failure.withLock { failure in
            guard let (reason, count) = failure else { return nil }
            failure = count > 1 ? (reason, count - 1) : nil
            return reason
        }
    }

    /// Drops further appends without an error, as a crash below full durability does.
    func forget() { forgets.withLock { $0 = true } }

    private let replayFailures = Locked<[JournalFailure]>([])

    /// Makes the next replay fail. It reads more bytes at once than all others do.
    func failReplay(_ failure: JournalFailure) { replayFailures.withLock { $0.append(failure) } }

    private let gate = Gate()

    /// Blocks appends, or resumes them.
    func hold(_ isHeld: Bool) { gate.close(isHeld) }

    /// Returns once an append is blocked.
    func someoneWaits() async {
        while gate.waiting == 0 { await Task.yield() }
    }

    static let full = JournalFailure(.storageFull, "there is no room")
    static let broken = JournalFailure(.inputOutput, "the disk is broken")

    var durability: Durability { journal.durability }
    var crashMarker: CrashMarker { journal.crashMarker }
    func open() throws(JournalFailure) -> JournalContents? { try journal.open() }
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try journal.begin(identity, from: snapshot)
    }
    func claim(_ epoch: EpochStart) throws(JournalFailure) { try journal.claim(epoch) }
    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        gate.pass()
        if let failure = nextFailure() { throw failure }
        if forgets.withLock({ $0 }) { return }
        try journal.append(records)
    }
    func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        if maxBytes > 4 << 20, let failure = replayFailures.withLock({ $0.popLast() }) { throw failure }
        return try journal.records(after: sequence, maxBytes: maxBytes)
    }
    func epochs() throws(JournalFailure) -> [EpochStart] { try journal.epochs() }
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try journal.snapshots() }
    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot { try journal.snapshot(entry) }
    func origin() throws(JournalFailure) -> JournalSnapshot? { try journal.origin() }
    func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        guard takesSnapshots else { throw Self.full }
        // The simulated crash loses the snapshot too.
        if forgets.withLock({ $0 }) { return }
        try journal.store(snapshot, as: kind)
    }
    func checkPlace() throws(JournalFailure) {
        if let failure = place.withLock({ $0 }) { throw failure }
        try journal.checkPlace()
    }
    func prune(keeping historyBytes: Int) throws(JournalFailure) { try journal.prune(keeping: historyBytes) }
    func close() { journal.close() }
}

/// A gate that blocks threads.
private final class Gate: @unchecked Sendable {
    private let condition = NSCondition()
    private var isClosed = false
    private var count = 0

    var waiting: Int { condition.withLock { count } }

    func close(_ isClosed: Bool) {
        condition.withLock {
            self.isClosed = isClosed
            condition.broadcast()
        }
    }

    func pass() {
        condition.withLock {
            count += 1
            while isClosed { condition.wait() }
            count -= 1
        }
    }
}
