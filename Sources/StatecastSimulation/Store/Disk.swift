import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// The pages of a crash marker on one computer, which survive processes.
final class CrashPages {
    private(set) var page = emptyPage()
    /// The pages of processes that ended; their markers still refer to them.
    private var abandoned: [UnsafeMutableRawPointer] = []

    deinit { for page in abandoned + [page] { page.deallocate() } }

    private static func emptyPage() -> UnsafeMutableRawPointer {
        let page = UnsafeMutableRawPointer.allocate(byteCount: CrashMarker.byteCount, alignment: 8)
        page.initializeMemory(as: UInt8.self, repeating: 0, count: CrashMarker.byteCount)
        return page
    }

    /// The process has ended in the middle of what it does: what it still writes to its page has no effect.
    func processEnded() {
        let copy = Self.emptyPage()
        copy.copyMemory(from: page, byteCount: CrashMarker.byteCount)
        abandoned.append(page)
        page = copy
    }

    /// The power fails.
    func clear() { page.initializeMemory(as: UInt8.self, repeating: 0, count: CrashMarker.byteCount) }
}

/// The disk of one store's journal. It keeps what was written, and of that, what a power cut leaves.
final class Disk: JournalContent {
    private let world: World
    let durability: Durability
    var hasNodes: Bool { false }
    /// What the next start finds if the system goes on.
    private(set) var written = JournalImage()
    /// What the next start finds after a power cut.
    private(set) var synced = JournalImage()
    let pages = CrashPages()
    /// Until then, there is no room.
    private var fullUntil = Instant.origin
    /// Until then, commits wait.
    private(set) var stuckUntil = Instant.origin
    /// Until then, what was written is not on the disk.
    private var unsyncedUntil = Instant.origin
    /// Whether the next commit fails, with an unknown outcome.
    fileprivate(set) var failsNext = false
    /// The faults that are counted when they have an effect.
    private var pending: Set<Fault> = []
    /// The numbers of records of the commits that found no room.
    fileprivate(set) var refusedCounts: [Int] = []
    /// Snapshots that cannot be read.
    fileprivate(set) var damaged: Set<SnapshotEntry> = []

    init(_ world: World, _ durability: Durability) {
        (self.world, self.durability) = (world, durability)
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
    /// - Returns: whether it is damaged.
    func damageNewestSnapshot() -> Bool {
        let snapshots = written.snapshots
        guard snapshots.count >= 2, let newest = snapshots.last, !damaged.contains(snapshots[snapshots.count - 2])
        else { return false }
        pending.insert(.snapshotDamaged)
        return damaged.insert(newest).inserted
    }

    /// There is no room for a time.
    ///
    /// - Parameter fault: counted when a write is refused.
    func fill(until time: Instant, by fault: Fault? = nil) {
        fullUntil = max(fullUntil, time)
        if let fault { pending.insert(fault) }
    }

    /// Commits wait for a time.
    func block(until time: Instant) {
        stuckUntil = time
        pending.insert(.diskStuck)
    }

    /// What was written is not synced for a time.
    func holdSync(until time: Instant) { unsyncedUntil = time }

    /// The next commit fails.
    func failNext() {
        failsNext = true
        pending.insert(.diskFails)
    }

    /// Ends all faults but the damage of snapshots.
    func heal() {
        (fullUntil, stuckUntil, failsNext) = (.origin, .origin, false)
        pending = []
    }

    /// Counts a fault that has an effect, the first time.
    func noteEffect(of fault: Fault) { if pending.remove(fault) != nil { world.count(fault) } }

    /// What was written is on the disk.
    func sync() { if world.now >= unsyncedUntil { synced = written } }

    /// Loses what was not on the disk, and the page of the crash marker.
    ///
    /// - Returns: whether records are lost.
    func cutPower() -> Bool {
        defer { written = synced }
        pages.clear()
        return written.last != synced.last
    }

    fileprivate func requireRoom() throws(JournalFailure) {
        guard isFull else { return }
        noteEffect(of: .diskFull)
        throw JournalFailure(.storageFull, Self.full)
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
        crashMarker = CrashMarker(page: disk.pages.page)
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
        if disk.isFull { disk.refusedCounts.append(records.count) }
        try disk.requireRoom()
        if disk.failsNext {
            disk.noteEffect(of: .diskFails)
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
        try disk.requireRoom()
        try output { $0.store(snapshot, as: kind) }
        disk.damaged.remove(snapshot.entry)
        if let lineage { history.stored(snapshot, in: lineage) }
    }

    func prune(keeping historyBytes: Int) throws(JournalFailure) {
        try output { $0.prune(keeping: historyBytes) }
    }

    func epochs() throws(JournalFailure) -> [EpochStart] { disk.written.epochs }

    func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        try disk.written.records(after: sequence, maxBytes: maxBytes)
    }

    func snapshots() throws(JournalFailure) -> [SnapshotEntry] { disk.written.snapshots }

    func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        guard !disk.damaged.contains(entry) else {
            disk.noteEffect(of: .snapshotDamaged)
            throw JournalFailure(.damaged, "the snapshot of revision \(entry.revision) is damaged")
        }
        return try disk.written.snapshot(entry)
    }

    func close() {}
}
