import ArgumentParser
import CounterApp
import Foundation
import Statecast
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading

/// The disk of a primary.
enum PrimaryDisk: String, CaseIterable, ExpressibleByArgument {
    case fast
    /// On a fast disk, an update that becomes visible too early is durable a moment later, too soon for a kill in
    /// between.
    case slow
    /// Slow, and fails at one of the first commits.
    case failing
}

/// A primary with a slow or failing disk.
struct DiskPrimary: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "disk-primary", shouldDisplay: false)

    @Argument var disk: PrimaryDisk
    @Argument var seed: UInt64
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
            journal: FaultyDiskJournal(at: journal, durability, fails: disk == .failing, seed: seed),
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

/// A journal that pauses before and after each commit, and whose disk may fail.
///
/// Unchecked, but safe: only `claim` and `append` change it, which are not called concurrently.
private final class FaultyDiskJournal: Journal, @unchecked Sendable {
    private let journal: SQLiteJournal
    private let log: String
    private var random: SplitMix64
    /// The number of commits before the one that fails; `nil` if none fails.
    private var commitsLeft: Int?

    init(at path: String, _ durability: Durability, fails: Bool, seed: UInt64) {
        journal = SQLiteJournal(at: path, durability: durability)
        log = path + "/journal.sqlite-wal"
        random = SplitMix64(seed: seed)
        commitsLeft = fails ? random.below(12) : nil
    }

    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        try committing { () throws(JournalFailure) in try journal.append(records) }
    }

    func claim(_ epoch: EpochStart) throws(JournalFailure) {
        try committing { () throws(JournalFailure) in try journal.claim(epoch) }
    }

    private func committing(_ body: () throws(JournalFailure) -> Void) throws(JournalFailure) {
        if let left = commitsLeft {
            commitsLeft = left > 0 ? left - 1 : nil
            if left == 0 { breakDisk() }
        }
        pause()
        try body()
        pause()
    }

    private func pause() { Thread.sleep(forTimeInterval: 0.02 * Double(random.below(1000)) / 1000) }

    /// From now on no file grows beyond a size at which this commit may be written in part.
    private func breakDisk() {
        signal(SIGXFSZ, SIG_IGN)
        var status = stat()
        let bytes = stat(log, &status) == 0 ? Int(status.st_size) : 0
        var limit = rlimit(rlim_cur: rlim_t(bytes + random.below(16 << 10)), rlim_max: rlim_t.max)
        #if canImport(Glibc)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        #else
            setrlimit(RLIMIT_FSIZE, &limit)
        #endif
    }

    var durability: Durability { journal.durability }
    var crashMarker: CrashMarker { journal.crashMarker }
    func open() throws(JournalFailure) -> JournalContents? { try journal.open() }
    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try journal.begin(identity, from: snapshot)
    }
    func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        try journal.records(after: sequence, maxBytes: maxBytes)
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
