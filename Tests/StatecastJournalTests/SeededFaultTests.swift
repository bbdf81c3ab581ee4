import Foundation
import Statecast
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading
import Testing

@testable import StatecastSQLite

/// Runs of a primary with one journal, from a seed. The processes stop, are killed in the middle of a commit, or lose
/// the power; the disk is full or fails; between the runs, files are damaged.
///
/// The rules for each start:
/// - Without damage it succeeds. After a power cut at `normal` it may be refused.
/// - It finds everything that was acknowledged: all stored records after the end of a process, and at `full` also after
///   a power cut. At `normal`, a power cut may lose what the file "marks" on the disk does not name.
/// - It never finds a state that was not published, except the one of a record that was being committed.
/// - Or it is refused as damaged: the message names the remedy, no file changes, and with the old files the next start
///   finds everything.
///
/// What a journal cannot notice by its nature: a damaged database whose "marks" are an older copy, or have one of their
/// two notes damaged. Then a start may find less, but not less than "marks" names, nor than the newest snapshot. And a
/// directory without readable "marks", records and later snapshots is that of a process that ended while it began the
/// history. See docs/JOURNAL.md.
@Suite(.timeLimit(.minutes(10))) struct `A journal with faults from a seed` {
    @Test(arguments: Durability.allCases, seeds(0..<60))
    func `A journal with seeded faults loses nothing that was acknowledged, or is refused`(
        durability: Durability,
        seed: UInt64
    ) throws {
        try JournalWorld(durability, seed: seed).live()
    }

    @Test(arguments: UInt64(138)..<150)
    func `A journal loses nothing with the seeds that find a late acknowledgement`(seed: UInt64) throws {
        try JournalWorld(.full, seed: seed).live()
    }

    /// A failure names the seed.
    @Test(arguments: Durability.allCases, (0..<2).map { _ in UInt64.random(in: .min ... .max) })
    func `A journal with faults from a fresh seed loses nothing`(durability: Durability, seed: UInt64) throws {
        try JournalWorld(durability, seed: seed).live()
    }
}

/// One journal and its faults.
private final class JournalWorld {
    private static let runCount = 6
    private static let database = "journal.sqlite"
    private static let log = "journal.sqlite-wal"
    private static let marks = "marks"

    private let durability: Durability
    private let place = NewPath()
    private var random: SplitMix64
    private let environment = QueuedEnvironment()
    private let reduced = ReducedLedgers([Ledger().fingerprint])
    private let policy: JournalPolicy
    private var ledger: PublishedLedger?
    /// Of the primary's own actions.
    private var serial: UInt64 = 0
    /// The files that the next start finds.
    private var image: FolderImage = [:]
    /// The files to which the world returns if it is refused, without a power cut, and the damage that they have.
    private var intact: (image: FolderImage, accepted: [Damage]) = ([:], [])
    /// The same for the run that just ended, if it ended with a power cut.
    private var intactAfterRun: FolderImage?
    /// Earlier contents of files, and what was stored then.
    private var versions: [String: [(content: Data, stored: Revision)]] = [:]
    /// Contents of "marks" since it was last synced.
    private var unsyncedMarks: [(content: Data, stored: Revision)] = []
    /// What happened, for failures.
    private var events: [String] = []
    /// The damage of the files that an earlier start has accepted.
    private var accepted: [Damage] = []
    /// After a power cut: what "marks" names at least.
    private var cut: Revision?
    /// Whether the last end was a power cut that may lose stored records.
    private var isCut: Bool { cut != nil && durability != .full }

    init(_ durability: Durability, seed: UInt64) {
        self.durability = durability
        random = SplitMix64(seed: seed)
        var policy = JournalPolicy()
        policy.snapshotRecords = 3 + random.below(12)
        policy.historyBytes = random.below(20_000)
        self.policy = policy
    }

    func live() throws {
        for _ in 0..<Self.runCount {
            let damages = ledger == nil || random.oneIn(3) ? [] : damage()
            try start(damages)
        }
    }

    private func note(_ event: String) { events.append(event) }
    private var story: Comment { "\(events.joined(separator: "; "))" }

    // MARK: Damage

    private struct Damage {
        enum Kind: CaseIterable { case flipped, cut, zeroed, older, deleted }

        let kind: Kind
        let file: String
        /// What was stored when the older content was written.
        var stored: Revision?

        var isOfMarks: Bool { file == JournalWorld.marks }
    }

    /// Damages one or two files of the image.
    private func damage() -> [Damage] {
        (0...random.below(2)).compactMap { _ in damageFile() }
    }

    private func damageFile() -> Damage? {
        let snapshots = image.keys.filter { $0.hasPrefix("snapshots/") }.sorted()
        var files = [Self.database, Self.log, Self.marks].filter { image[$0]?.isEmpty == false }
        if let newest = snapshots.max(by: { Self.entry($0).sequence < Self.entry($1).sequence }) {
            files.append(random.oneIn(3) ? random.pick(snapshots) : newest)
        }
        let (file, kind) = (files[random.below(files.count)], random.pick(Damage.Kind.allCases))
        guard var content = image[file], !content.isEmpty else { return nil }
        var damage = Damage(kind: kind, file: file)
        // The beginning has the headers, the end the last commits.
        let offset =
            switch random.below(3) {
            case 0: random.below(min(content.count, 4096))
            case 1: random.below(content.count)
            default: content.count - 1 - random.below(min(content.count, 40_000))
            }
        switch kind {
        case .flipped: content[offset] ^= 1 << UInt8(random.below(8))
        case .cut: content = content.prefix(offset)
        case .zeroed:
            let start = offset / 512 * 512
            let end = min(content.count, start + 512 << random.below(6))
            content.replaceSubrange(start..<end, with: Data(count: end - start))
        case .older:
            guard let known = versions[file], !known.isEmpty else { return nil }
            let version = known[random.below(known.count)]
            (content, damage.stored) = (version.content, version.stored)
        case .deleted:
            image[file] = nil
            note("\(file) is deleted")
            return damage
        }
        guard content != image[file] else { return nil }
        image[file] = content
        note("\(file) is \(kind) at \(offset)\(damage.stored.map { ", stored \($0)" } ?? "")")
        return damage
    }

    private static func entry(_ snapshot: String) -> SnapshotEntry {
        let entry = SnapshotFile.entry(ofName: URL(filePath: snapshot).lastPathComponent)
        return entry ?? SnapshotEntry(sequence: JournalSequence(0), revision: Revision(0))
    }

    // MARK: Starts

    private func start(_ damages: [Damage]) throws {
        try? FileManager.default.removeItem(atPath: place.path)
        try FileManager.default.createDirectory(
            atPath: place.path + "/snapshots",
            withIntermediateDirectories: true
        )
        for (name, content) in image { try content.write(to: URL(filePath: "\(place.path)/\(name)")) }
        let before = (image: image, ledger: ledger)
        let disk = FaultyDisk(place.path)
        defer { disk.remove() }
        if random.oneIn(4) { disk.keepMoment(after: random.below(24)) }
        let process: LedgerProcess
        do throws(StatecastError) {
            process = try LedgerProcess(
                SQLiteJournal(at: place.path, durability: durability),
                environment,
                policy: policy,
                lineage: Lineage(bits: random.next()),
                reduced
            )
        } catch {
            note("refused: \(error)")
            try refused(error, damages, before.image)
            if random.oneIn(3) { try salvage() }
            (image, accepted, cut) = (intact.image, intact.accepted, nil)
            return
        }
        note("started at \(process.start)")
        defer { process.abandon() }
        guard try found(process, damages) else { return }
        let isDamaged = !damages.isEmpty
        accepted += damages
        if let moment = disk.takeMoment() { return endInStart(moment, before, isDamaged: isDamaged) }
        let known = versions
        try run(process, disk)
        if process.isDamaged || isDamaged && random.oneIn(2) {
            // Continues from the undamaged files.
            note("undone")
            (image, accepted) = intact
            (ledger, cut, versions) = (before.ledger, nil, known)
        } else {
            intact = (intactAfterRun ?? image, accepted)
        }
    }

    /// The process ends while it starts.
    private func endInStart(
        _ moment: FaultyDisk.Moment,
        _ before: (image: FolderImage, ledger: PublishedLedger?),
        isDamaged: Bool
    ) {
        note("ends in its start")
        ledger = before.ledger
        image = moment.written
        if !isDamaged && cut == nil { intact = (image, accepted) }
        guard random.oneIn(2) else { return }
        note("cut")
        image = moment.afterPowerCut(using: &random)
        // A new history syncs its "marks" before it has an identity.
        if random.oneIn(2), ledger != nil, let old = before.image[Self.marks] { image[Self.marks] = old }
        cut = cut ?? ledger?.storedBefore ?? Revision(0)
    }

    /// Checks what a start has found.
    ///
    /// - Returns: whether the process goes on.
    private func found(_ process: LedgerProcess, _ damages: [Damage]) throws -> Bool {
        let (start, state) = (process.start, process.state)
        #expect(state.count == start.revision.rawValue, story)
        #expect(state.repeated == nil, story)
        guard var ledger else {
            self.ledger = try PublishedLedger(
                start,
                state,
                senders: ["a", "b"].map { LedgerSender($0, using: &random) }
            )
            return true
        }
        let damages = accepted + damages
        // By its nature, it cannot be noticed.
        let isWeak = damages.contains(where: \.isOfMarks) && (isCut || damages.contains { !$0.isOfMarks })
        let floor = floor(damages, ledger)
        guard start.lineage == ledger.lineage else {
            let snapshots = image.keys.filter { $0.hasSuffix(".snapshot") }
            #expect(isWeak && snapshots.count <= 1, "a new history began: \(story)")
            return endsBranch(ledger)
        }
        #expect(start.revision >= floor, "found \(start.revision), expected \(floor): \(story)")
        #expect(start.epoch > ledger.epoch || isWeak, "the epoch \(start.epoch) is used again: \(story)")
        let isPublished = try ledger.hasPublished(state, at: start.revision)
        let isCommitted =
            start.revision > ledger.head && reduced.withLock { $0.contains(state.fingerprint) }
        #expect(isPublished || isCommitted || isWeak, "another state than the published one: \(story)")
        if isWeak { return endsBranch(ledger) }
        try ledger.continued(start, state, mayLack: isCut || cut != nil && !damages.isEmpty)
        self.ledger = ledger
        return true
    }

    /// Returns to the intact files.
    private func endsBranch(_ before: PublishedLedger) -> Bool {
        (image, ledger, accepted, cut) = (intact.image, before, intact.accepted, nil)
        return false
    }

    /// The revision that a start must find at least.
    private func floor(_ damages: [Damage], _ ledger: PublishedLedger) -> Revision {
        let snapshots = image.keys.filter { $0.hasSuffix(".snapshot") }
        let snapshot = snapshots.map { Self.entry($0).revision }.max() ?? Revision(0)
        let ofMarks = damages.filter(\.isOfMarks)
        guard isCut || damages.contains(where: { !$0.isOfMarks }) else { return ledger.stored }
        if let cut { return max(snapshot, ofMarks.isEmpty ? cut : Revision(0)) }
        return max(snapshot, ofMarks.map { $0.stored ?? ledger.storedBefore }.min() ?? ledger.stored)
    }

    private func refused(_ error: StatecastError, _ damages: [Damage], _ found: FolderImage) throws {
        let isExpected = !(accepted + damages).isEmpty || isCut
        #expect(isExpected, "refused without a damage: \(story)")
        let cause = error.cause as? JournalFailure
        #expect(error.code == .journal && cause?.code == .damaged, story)
        let text = "\(error)"
        #expect(text.contains("estore a backup") && text.contains(place.path), story)
        let left = FaultyDisk.image(of: place.path).filter { !$0.value.isEmpty }
        #expect(left == found.filter { !$0.value.isEmpty }, "a refused start changed files: \(story)")
    }

    /// Salvages the refused journal: never a state that the ledger did not have.
    private func salvage() throws {
        let target = NewPath()
        let tree: Value
        do throws(JournalFailure) {
            _ = try JournalSalvage.salvage(place.path, to: target.path, store: nil, begun: environment.time)
            tree = try JournalReader(at: target.path).walk(to: Revision(.max)).tree
        } catch {
            // With neither a database nor a snapshot, there is no journal any more.
            #expect([.damaged, .inputOutput].contains(error.code), "\(error): \(story)")
            return
        }
        let state = try StateDecoder().decode(Ledger.self, from: tree.encoded)
        #expect(reduced.withLock { $0.contains(state.fingerprint) }, "salvaged another state: \(story)")
    }

    // MARK: Runs

    private enum End: CaseIterable { case stop, stopAndCut, kill, killInside, cut, cutInside, failure }

    private func run(_ process: LedgerProcess, _ disk: FaultyDisk) throws {
        guard let start = ledger else { return }
        (cut, intactAfterRun, unsyncedMarks) = (nil, nil, [])
        noteVersions(start.stored, all: true)
        for sender in start.senders { try process.subscribe(to: sender.session) }
        process.work()
        try notePublished(process)
        let isIdle = random.oneIn(4)
        for _ in 0..<(isIdle ? 0 : random.below(12)) {
            if random.oneIn(8) { disk.checkpoint(isTruncating: random.oneIn(2)) }
            if random.oneIn(8) { disk.room = disk.room == nil ? random.below(60_000) : nil }
            try submit(to: process)
            process.work()
            try notePublished(process)
            // Damage that a start has not noticed ends the primary.
            #expect(process.failure == nil || process.isDamaged && !accepted.isEmpty, story)
            if process.isDamaged { return }
            noteVersions(ledger?.stored ?? Revision(0), all: random.oneIn(3))
        }
        disk.room = nil
        process.work()
        try notePublished(process)
        if !isIdle {
            try checkServing(process, disk)
            try submit(to: process)
        }
        try end(process, disk, random.pick(End.allCases))
    }

    /// With room on the disk, actions are applied.
    private func checkServing(_ process: LedgerProcess, _ disk: FaultyDisk) throws {
        let head = process.head
        serial += 1
        process.dispatch(Entry(origin: "own", serial: serial, bits: 1))
        process.work()
        try notePublished(process)
        if process.isDamaged && !accepted.isEmpty { return }
        #expect(try #require(process.head) > #require(head), "an action is not applied: \(story)")
    }

    private func submit(to process: LedgerProcess) throws {
        for _ in 0..<random.below(4) {
            serial += 1
            process.dispatch(Entry(origin: "own", serial: serial, bits: random.next()))
        }
        for (frame, secret) in try ledger?.nextFrames(using: &random) ?? [] { try process.push(frame, secret) }
    }

    private func notePublished(_ process: LedgerProcess) throws {
        try ledger?.published(process.published())
        ledger?.noteStored()
    }

    private func noteVersions(_ stored: Revision, all: Bool) {
        for file in [Self.marks] + (all ? [Self.database, Self.log] : []) {
            guard let content = try? Data(contentsOf: URL(filePath: "\(place.path)/\(file)")) else { continue }
            if all { versions[file, default: []].append((content, stored)) }
            if file == Self.marks { unsyncedMarks.append((content, stored)) }
        }
    }

    // MARK: Ends

    private func end(_ process: LedgerProcess, _ disk: FaultyDisk, _ end: End) throws {
        note("\(end)")
        switch end {
        case .stop, .stopAndCut:
            process.stop()
            try notePublished(process)
            noteVersions(ledger?.stored ?? Revision(0), all: false)
            // A stop syncs "marks".
            unsyncedMarks.removeSubrange(..<(unsyncedMarks.count - 1))
        case .kill, .cut: process.work()
        case .killInside, .cutInside:
            disk.keepMoment(after: random.below(8), process.noteMoment)
            process.work()
        case .failure:
            disk.fail(after: random.below(8))
            process.work()
        }
        let kept = disk.takeMoment()
        try notePublished(process)
        let moment = kept ?? disk.now()
        image = moment.written
        if [.cut, .cutInside, .stopAndCut].contains(end) {
            intactAfterRun = image
            image = moment.afterPowerCut(using: &random)
            cutMarks()
        }
        if [.kill, .cut].contains(end) { try checkRemoval(process, disk) }
    }

    /// A power cut leaves any content of "marks" since it was last synced.
    private func cutMarks() {
        let version = unsyncedMarks[random.below(unsyncedMarks.count)]
        image[Self.marks] = version.content
        cut = version.stored
    }

    /// Nothing is published any more when the directory was removed.
    private func checkRemoval(_ process: LedgerProcess, _ disk: FaultyDisk) throws {
        guard process.failure == nil else { return }
        let files = ["", "/" + Self.database, "/" + Self.log, "/" + Self.marks]
        try FileManager.default.removeItem(atPath: place.path + random.pick(files))
        let isIdle = random.oneIn(3)
        if !isIdle { process.dispatch(Entry(origin: "removed", serial: serial + 1, bits: 1)) }
        process.work(isTicking: isIdle)
        let cause = process.failure?.cause as? JournalFailure
        #expect(cause?.code == .removed, "\(cause.map { "\($0)" } ?? "no failure"): \(story)")
        let updates = try process.published().filter { if case .update = $0.frame { true } else { false } }
        #expect(updates.isEmpty, story)
    }
}
