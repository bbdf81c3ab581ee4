package import StatecastCore
package import StatecastJournal
package import StatecastProtocol

/// The result of salvaging a damaged journal.
package struct JournalSalvage: Sendable {
    package let copy: JournalCopy
    /// The damage that ends the copy; `nil` without damage.
    package let damage: String?
    /// The last acknowledged revision; `nil` if it cannot be read.
    package let acknowledged: Revision?
    /// The first revision of the history lost before a gap; `nil` if all of it was copied.
    package let lostHistory: Revision?
    /// The revisions of the snapshots that contradict intact records and were left out.
    package let contradicted: [Revision]

    /// Creates a journal from the readable parts of another one: the last state that can be reached, and the unbroken
    /// history before it, with a new lineage. If a snapshot contradicts intact records, the records are used. The
    /// damaged journal is not changed.
    ///
    /// - Parameters:
    ///   - store: the store's name, if the journal's own cannot be read.
    ///   - begun: the time at which the new lineage begins.
    /// - Throws: ``JournalFailure`` with code `in-use` if a primary has the journal open; with code `damaged` if no
    ///   state can be read.
    package static func salvage(
        _ path: String,
        to target: String,
        store: StoreName?,
        begun: Timestamp
    ) throws(JournalFailure) -> JournalSalvage {
        let directory = JournalDirectory(path: path)
        try directory.requireName()
        guard directory.hasDatabase || (try? directory.snapshots())?.isEmpty == false else { throw directory.absent }
        try directory.requireReadable()
        let lock = try DirectoryLock.whileReading(directory)
        defer { withExtendedLifetime(lock) {} }
        let source = try DamagedJournal(directory)
        let chain = try source.longestChain()
        guard let name = source.store ?? store else {
            throw JournalFailure(
                .damaged,
                "the name of the store in the journal \(path) cannot be read: name it with --store"
            )
        }
        let identity = JournalIdentity(store: name, lineage: Lineage(bits: 0), begun: begun).inNewLineage(begun: begun)
        try JournalBuilder.write(to: target, identity, from: chain.start, as: .journal) {
            builder throws(JournalFailure) in
            try builder.claim(source.epochs(of: chain))
            try builder.appendRecords(through: chain.end.sequence) { last, body throws(JournalFailure) in
                try source.forEachRecord(after: last, body)
            }
            for snapshot in source.snapshots(in: chain) { try builder.store(snapshot) }
        }
        return JournalSalvage(
            copy: JournalCopy(identity: identity, from: chain.start.entry, to: chain.end),
            damage: chain.damage,
            acknowledged: source.acknowledged?.revision,
            lostHistory: chain.lostHistory,
            contradicted: chain.contradicted
        )
    }
}

/// The readable parts of a journal.
private struct DamagedJournal {
    /// `nil` if it cannot be read.
    let store: StoreName?
    /// The last acknowledged record; `nil` if it cannot be read or belongs to another history.
    let acknowledged: SnapshotEntry?

    private let directory: JournalDirectory
    /// `nil` if SQLite cannot read the database.
    private let reader: JournalReader?
    private let unreadable: JournalFailure?
    /// The copy in the database of the first snapshot.
    private let origin: JournalSnapshot?

    /// - Throws: ``JournalFailure`` for a journal of a later version, or an incomplete copy.
    init(_ directory: JournalDirectory) throws(JournalFailure) {
        self.directory = directory
        var identity: JournalIdentity?
        do throws(JournalFailure) {
            let records = try RecordStore(reading: directory, .ignoringDamage)
            identity = try? records.identity()
            reader = JournalReader(directory, records)
            unreadable = nil
        } catch {
            guard error.code != .newerFormat else { throw error }
            (reader, unreadable) = (nil, error)
        }
        origin = try? reader?.origin()
        let marks = try? CommitMarkFile(reading: directory)
        store = identity?.store ?? marks?.store
        try marks?.checkFinished()
        acknowledged = identity.map { marks?.belongs(to: $0.lineage) ?? false } ?? true ? marks?.acknowledged : nil
    }

    /// The chain that leads to the last trusted state and begins as early as possible.
    func longestChain() throws(JournalFailure) -> SalvagedChain {
        var entries = ((try? directory.snapshots()) ?? [])[...]
        if let origin, entries.first.map({ $0.sequence > origin.entry.sequence }) ?? true {
            entries = [origin.entry] + entries
        }
        let (count, oldest) = (entries.count, entries.first)
        var first: SalvagedChain?
        var longest: SalvagedChain?
        var contradicted: [Revision] = []
        while let entry = entries.popFirst() {
            guard let chain = chain(from: entry, comparing: entries) else { continue }
            first = first ?? chain
            guard isTrusted(chain) else {
                contradicted.append(entry.revision)
                continue
            }
            contradicted += chain.contradicted
            longest = chain
            entries = entries.drop { $0.sequence <= chain.end.sequence }
        }
        guard var chain = longest ?? first, let oldest else {
            throw JournalFailure(
                .damaged,
                "\(directory.path) cannot be salvaged: none of its \(count) snapshots can be read. Restore a backup"
            )
        }
        chain.contradicted = contradicted.filter { $0 != chain.start.entry.revision }
        if chain.start.entry != oldest { chain.lostHistory = oldest.revision }
        return chain
    }

    /// The chain that begins at a snapshot, compared with later ones; `nil` if the snapshot cannot be read.
    private func chain(from entry: SnapshotEntry, comparing later: ArraySlice<SnapshotEntry>) -> SalvagedChain? {
        guard let (snapshot, walk) = beginning(at: entry) else { return nil }
        var chain = SalvagedChain(from: snapshot, walk)
        do throws(JournalFailure) {
            try forEachRecord(after: entry.sequence) { record throws(JournalFailure) in
                try chain.advance(by: record)
                for entry in later where entry.sequence == record.sequence {
                    if let snapshot = try? SnapshotFile(entry, in: directory).read() { chain.compare(snapshot) }
                }
                return true
            }
        } catch {
            chain.damage = error.reason
        }
        return chain
    }

    /// Calls `body` with each record after `sequence`, in order, up to the first that cannot be read.
    ///
    /// - Throws: ``JournalFailure`` that names the damage, or the failure of `body`.
    func forEachRecord(
        after sequence: JournalSequence,
        _ body: (JournalRecord) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        if let unreadable { throw unreadable }
        try reader?.forEachRecord(after: sequence, body)
    }

    /// The snapshot from its file, or else from the database.
    private func beginning(at entry: SnapshotEntry) -> (JournalSnapshot, JournalWalk)? {
        let file = try? SnapshotFile(entry, in: directory).read()
        for snapshot in [file, origin].compactMap(\.self) where snapshot.entry == entry {
            if let walk = try? JournalWalk(from: snapshot) { return (snapshot, walk) }
        }
        return nil
    }

    /// Records are trusted more than snapshots: a snapshot is not trusted if the next record does not continue from it,
    /// or if it is later than the last acknowledged record and no record leads to it.
    private func isTrusted(_ chain: SalvagedChain) -> Bool {
        if chain.end.sequence > chain.start.entry.sequence { return true }
        guard let acknowledged else { return !chain.isRefuted }
        return !chain.isRefuted && chain.end.sequence <= acknowledged.sequence
    }

    /// The incarnations in a chain. If they cannot be read, one replaces them.
    func epochs(of chain: SalvagedChain) -> [EpochStart] {
        let known = ((try? reader?.records.epochs()) ?? []).filter { $0.epoch <= chain.epoch }
        guard known.last?.epoch != chain.epoch else { return known }
        let substitute = EpochStart(
            epoch: chain.epoch,
            revision: chain.start.entry.revision,
            stateVersion: chain.stateVersion,
            time: Timestamp(milliseconds: 0)
        )
        return known + [substitute]
    }

    /// The later snapshots to which a chain leads.
    func snapshots(in chain: SalvagedChain) -> [JournalSnapshot] {
        chain.confirmed.compactMap { try? SnapshotFile($0, in: directory).read() }
    }
}

/// A snapshot, and the records that continue from it.
private struct SalvagedChain {
    let start: JournalSnapshot
    /// The last incarnation of the primary in the chain.
    private(set) var epoch: Epoch
    /// The damage at the end of the chain; `nil` without damage.
    var damage: String?
    /// Whether the record after the start is intact and does not continue from it.
    private(set) var isRefuted = false
    /// The later snapshots to which the records lead.
    private(set) var confirmed: [SnapshotEntry] = []
    /// The snapshots that differ from the states to which the records lead.
    var contradicted: [Revision] = []
    /// The first revision of the history lost before a gap.
    var lostHistory: Revision?

    private var walk: JournalWalk

    init(from start: JournalSnapshot, _ walk: JournalWalk) {
        self.start = start
        self.walk = walk
        epoch = walk.start.epoch
    }

    var end: SnapshotEntry { walk.place }

    var stateVersion: UInt64 { walk.start.stateVersion }

    mutating func advance(by record: JournalRecord) throws(JournalFailure) {
        do throws(JournalFailure) { epoch = try walk.advance(by: record).epoch } catch {
            isRefuted = end == start.entry
            throw error
        }
    }

    mutating func compare(_ snapshot: JournalSnapshot) {
        if (try? walk.agrees(with: snapshot)) == true {
            confirmed.append(snapshot.entry)
        } else {
            contradicted.append(snapshot.entry.revision)
        }
    }
}
