import Journal
import SyncProtocol

/// The disk of one store's journal. It keeps what was written, and of that, what a power cut leaves.
final class Disk {
    private let world: World
    let durability: Durability
    /// What the next start finds if the system goes on.
    private(set) var written = JournalImage()
    /// What the next start finds after a power cut.
    private(set) var synced = JournalImage()
    /// The crash marker's page, which survives the process.
    private(set) var page: UnsafeMutableRawPointer
    /// The pages of processes that ended; their markers still refer to them.
    private var abandonedPages: [UnsafeMutableRawPointer] = []
    /// Until then, there is no room.
    var fullUntil = Instant.origin { didSet { begun.insert(.diskFull) } }
    /// Until then, commits wait.
    var stuckUntil = Instant.origin { didSet { begun.insert(.diskStuck) } }
    /// Whether the next commit fails, with an unknown outcome.
    var failsNext = false { didSet { if failsNext { begun.insert(.diskFails) } } }
    /// The faults that have had no effect yet.
    private var begun: Set<Fault> = []
    /// The numbers of records of the commits that found no room.
    fileprivate(set) var refusedCounts: [Int] = []
    /// Snapshots that cannot be read.
    fileprivate(set) var damaged: Set<SnapshotEntry> = []

    init(_ world: World, _ durability: Durability) {
        (self.world, self.durability) = (world, durability)
        page = Self.emptyPage()
    }

    deinit { for page in abandonedPages + [page] { page.deallocate() } }

    private static func emptyPage() -> UnsafeMutableRawPointer {
        let page = UnsafeMutableRawPointer.allocate(byteCount: CrashMarker.byteCount, alignment: 8)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: CrashMarker.byteCount)
        return page
    }

    /// The process has ended in the middle of what it does: what it still writes to its page has no effect.
    func processEnded() {
        let copy = Self.emptyPage()
        copy.copyMemory(from: page, byteCount: CrashMarker.byteCount)
        abandonedPages.append(page)
        page = copy
    }

    /// Changes what is written; at durability `full`, it is on the disk at once.
    func write(_ change: (inout JournalImage) -> Void) {
        change(&written)
        if durability == .full { synced = written }
    }

    static let failed = "the simulated disk failed"
    static let full = "no room on the simulated disk"

    /// Damages the newest snapshot, if the one before it and the records lead to the same state.
    ///
    /// - Returns: whether there is such a snapshot.
    func damageNewestSnapshot() -> Bool {
        let snapshots = written.snapshots
        guard snapshots.count >= 2, let newest = snapshots.last, !damaged.contains(snapshots[snapshots.count - 2])
        else { return false }
        return damaged.insert(newest).inserted
    }

    /// Ends all faults but the damage of snapshots.
    func heal() { (fullUntil, stuckUntil, failsNext, begun) = (.origin, .origin, false, []) }

    /// A fault has an effect, which is counted once.
    func hasEffect(_ fault: Fault) { if begun.remove(fault) != nil { world.count(fault) } }

    /// What was written is on the disk.
    func sync() { synced = written }

    /// Loses what was not on the disk, and the page of the crash marker.
    func cutPower() {
        written = synced
        page.initializeMemory(as: UInt8.self, repeating: 0, count: CrashMarker.byteCount)
    }

    /// Whether there is no room for what is to be written now.
    fileprivate var refusesWrite: Bool {
        guard isFull else { return false }
        hasEffect(.diskFull)
        return true
    }

    var isFull: Bool { world.now < fullUntil }
}

/// The journal on a ``Disk``, as one process has it open.
///
/// Unchecked, but safe: see ``World``.
final class DiskJournal: Journal, CustomStringConvertible, @unchecked Sendable {
    private let disk: Disk
    private let history: StoreHistory
    private let process: Process
    let crashMarker: CrashMarker

    init(_ disk: Disk, _ history: StoreHistory, in process: Process) {
        (self.disk, self.history, self.process) = (disk, history, process)
        crashMarker = CrashMarker(page: disk.page)
    }

    var durability: Durability { disk.durability }
    var description: String { "simulated" }

    private static let gone = JournalFailure(.inputOutput, "the process has ended")

    private func output(_ change: (inout JournalImage) -> Void) throws(JournalFailure) {
        guard process.canOutput() else { throw Self.gone }
        disk.write(change)
    }

    func open() throws(JournalFailure) -> JournalContents? { disk.written.contents }

    func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) throws(JournalFailure) {
        try output { $0.begin(identity, from: snapshot) }
        disk.sync()
        do {
            history.begun(identity.lineage, try SnapshotContext(decoding: snapshot.context).summary)
        } catch { throw JournalFailure(.misfit, "\(error)") }
    }

    func claim(_ epoch: EpochStart) throws(JournalFailure) {
        try output { $0.claim(epoch) }
        disk.sync()
        if let lineage { history.claimed(epoch, in: lineage) }
    }

    func append(_ records: [JournalRecord]) throws(JournalFailure) {
        guard process.canOutput() else { throw Self.gone }
        guard !disk.refusesWrite else {
            disk.refusedCounts.append(records.count)
            throw JournalFailure(.storageFull, Disk.full)
        }
        if disk.failsNext {
            disk.hasEffect(.diskFails)
            disk.failsNext = false
            // Whether the commit took effect is unknown.
            if process.world.random.oneIn(2) { write(records) }
            throw JournalFailure(.inputOutput, Disk.failed)
        }
        write(records)
        // The process may end between the commit and its report.
        guard process.canOutput() else { throw Self.gone }
    }

    private func write(_ records: [JournalRecord]) {
        disk.write { $0.append(records) }
        if let lineage { for record in records { history.recorded(record, in: lineage) } }
    }

    private var lineage: Lineage? { disk.written.contents?.identity.lineage }

    func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) throws(JournalFailure) {
        guard !disk.refusesWrite else { throw JournalFailure(.storageFull, Disk.full) }
        try output { $0.store(snapshot, as: kind) }
        disk.damaged.remove(snapshot.entry)
        if let lineage { history.stored(snapshot, in: lineage) }
    }

    func prune(keeping historyBytes: Int) throws(JournalFailure) {
        try output { $0.prune(keeping: historyBytes) }
    }

    func epochs() throws(JournalFailure) -> [EpochStart] { disk.written.epochs }

    func records(after sequence: JournalSequence, bytesMax: Int) throws(JournalFailure) -> [JournalRecord] {
        try disk.written.records(after: sequence, bytesMax: bytesMax)
    }

    func sequence(at revision: Revision) throws(JournalFailure) -> JournalSequence? {
        disk.written.sequence(at: revision)
    }

    func snapshots() throws(JournalFailure) -> [SnapshotEntry] { disk.written.snapshots }

    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        guard !disk.damaged.contains(entry) else {
            throw JournalFailure(.damaged, "the snapshot of revision \(entry.revision) is damaged")
        }
        return try disk.written.snapshot(entry)
    }

    func close() {}
}
