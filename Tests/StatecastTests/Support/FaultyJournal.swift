import Journal
import Locking
import SyncProtocol

/// A journal in memory whose disk a test fills, frees and breaks.
final class FaultyJournal: Journal {
    private let journal = MemoryJournal()
    private let failure = Locked<JournalFailure?>(nil)

    /// Lets all that is appended fail from now on, or not any more.
    func fail(_ failure: JournalFailure?) { self.failure.withLock { $0 = failure } }

    static let full = JournalFailure(.storageFull, "there is no room")
    static let broken = JournalFailure(.inputOutput, "the disk is broken")

    var durability: Durability { journal.durability }
    var reductions: ReductionNotes { journal.reductions }
    func open() throws(JournalFailure) -> JournalContents? { try journal.open() }
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try journal.begin(identity, from: snapshot)
    }
    func claim(_ epoch: EpochStart) throws(JournalFailure) { try journal.claim(epoch) }
    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        if let failure = failure.withLock({ $0 }) { throw failure }
        try journal.append(records)
    }
    func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        try journal.records(after: sequence, bytesMax: bytesMax)
    }
    func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try journal.sequence(at: revision)
    }
    func epochs() throws(JournalFailure) -> [EpochStart] { try journal.epochs() }
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try journal.snapshots() }
    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot { try journal.snapshot(entry) }
    func store(_ snapshot: JournalSnapshot) throws(JournalFailure) { try journal.store(snapshot) }
    func prune(keeping historyBytes: Int) throws(JournalFailure) { try journal.prune(keeping: historyBytes) }
    func close() { journal.close() }
}
