import ArgumentParser
import CounterApp
import Foundation
import Journal
import SQLiteJournal
import Statecast
import SyncProtocol

/// A primary with a slow disk. On a fast one, an update that becomes visible too early is durable a moment later, too
/// soon for a kill in between.
struct SlowPrimary: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "slow-primary", shouldDisplay: false)

    @Argument var journal: String
    @Argument var durability: String
    @Argument var publish: String
    @Argument var actions: String

    func run() async throws {
        guard let durability = Durability(rawValue: durability) else { throw ValidationError("no such durability") }
        var configuration = PrimaryConfiguration(publish: publish, actions: actions)
        configuration.journal.snapshotRecords = 3
        let primary = try Primary(
            store: Counter.storeName,
            state: Counter(),
            actions: Counter.actions,
            journal: SlowJournal(SQLiteJournal(at: journal, durability: durability)),
            configuration: configuration,
            reducer: Counter.reducer
        )
        try await withThrowingTaskGroup { group in
            group.addTask { try await primary.run() }
            let address = try await primary.address
            print("ready publish=\(address.publish) actions=\(address.actions)")
            fflush(nil)
            try await group.waitForAll()
        }
    }
}

/// A journal that pauses before and after each commit.
private final class SlowJournal: Journal {
    private let journal: SQLiteJournal

    init(_ journal: SQLiteJournal) { self.journal = journal }

    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        Self.pause()
        try journal.append(records)
        Self.pause()
    }

    private static func pause() { Thread.sleep(forTimeInterval: Double.random(in: 0...0.02)) }

    var durability: Durability { journal.durability }
    var crashMarker: CrashMarker { journal.crashMarker }
    func open() throws(JournalFailure) -> JournalContents? { try journal.open() }
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try journal.begin(identity, from: snapshot)
    }
    func claim(_ epoch: EpochStart) throws(JournalFailure) { try journal.claim(epoch) }
    func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        try journal.records(after: sequence, bytesMax: bytesMax)
    }
    func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        try journal.sequence(at: revision)
    }
    func epochs() throws(JournalFailure) -> [EpochStart] { try journal.epochs() }
    func snapshots() throws(JournalFailure) -> [SnapshotEntry] { try journal.snapshots() }
    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot { try journal.snapshot(entry) }
    func origin() throws(JournalFailure) -> JournalSnapshot? { try journal.origin() }
    func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        try journal.store(snapshot, as: kind)
    }
    func checkPlace() throws(JournalFailure) { try journal.checkPlace() }
    func prune(keeping historyBytes: Int) throws(JournalFailure) { try journal.prune(keeping: historyBytes) }
    func close() { journal.close() }
}
