import StatecastJournal
import StatecastProtocol

/// A journal that breaks a promise.
final class FlawedJournal: Journal {
    enum Flaw: CaseIterable, Sendable {
        case losesLast, losesEpochs, swapsRecords, tooMany, prunesAll, prunesNothing, anyCode, shared, forgetful,
            keepsInterim
    }

    private let journal: MemoryJournal
    private let flaw: Flaw
    private let forgets = CrashMarker()

    init(_ journal: MemoryJournal, _ flaw: Flaw) {
        self.journal = journal
        self.flaw = flaw
    }

    var durability: Durability { journal.durability }
    var crashMarker: CrashMarker { flaw == .forgetful ? forgets : journal.crashMarker }
    func open() throws(JournalFailure) -> JournalContents? {
        if flaw == .shared { journal.close() }
        guard let contents = try journal.open() else { return nil }
        guard flaw == .losesLast, contents.last > JournalSequence(0) else { return contents }
        return JournalContents(
            identity: contents.identity,
            epochs: contents.epochs,
            last: JournalSequence(contents.last.rawValue - 1)
        )
    }
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try journal.begin(identity, from: snapshot)
    }
    func claim(_ epoch: EpochStart) throws(JournalFailure) { if flaw != .losesEpochs { try journal.claim(epoch) } }
    func append(_ records: [JournalRecord]) throws(JournalFailure) { try journal.append(records) }
    func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        do {
            let records = try journal.records(after: sequence, maxBytes: flaw == .tooMany ? .max : maxBytes)
            return flaw == .swapsRecords ? records.reversed() : records
        } catch {
            throw flaw == .anyCode ? JournalFailure(.inputOutput, error.message) : error
        }
    }
    func epochs() throws(JournalFailure) -> [EpochStart] { try journal.epochs() }
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try journal.snapshots() }
    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot { try journal.snapshot(entry) }
    func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        try journal.store(snapshot, as: flaw == .keepsInterim ? .regular : kind)
    }
    func prune(keeping historyBytes: Int) throws(JournalFailure) {
        if flaw != .prunesNothing { try journal.prune(keeping: flaw == .prunesAll ? 0 : historyBytes) }
    }
    func close() { journal.close() }
}
