internal import Journal
internal import StateCore
internal import SyncProtocol

/// What can still be read of a journal.
struct DamagedJournal {
    /// The records; `nil` if SQLite cannot read any.
    let reader: JournalReader?
    /// Whose history it is; `nil` if it cannot say that any more.
    let store: StoreName?
    /// What was acknowledged last; `nil` if that cannot be read, or is said of another history.
    let acknowledged: MarkPage.Mark?

    private let directory: JournalDirectory
    private let unreadable: JournalFailure?
    /// The first snapshot, as the database has it.
    private let origin: JournalSnapshot?

    /// - Throws: ``JournalFailure`` if it is not damaged, but of a later version, or was not copied to its end.
    init(_ directory: JournalDirectory) throws(JournalFailure) {
        self.directory = directory
        var identity: JournalIdentity?
        do throws(JournalFailure) {
            let records = try RecordStore(reading: directory, isSalvaged: true)
            identity = try? records.identity()
            reader = JournalReader(directory, records)
            unreadable = nil
        } catch {
            guard error.code != .newerFormat else { throw error }
            (reader, unreadable) = (nil, error)
        }
        origin = try? reader?.origin()
        let marks = try? MarkPage(reading: directory)
        store = identity?.store ?? marks?.store
        guard marks?.purpose != .unfinished else { throw MarkPage.unfinished(directory) }
        acknowledged = identity.map { marks?.belongs(to: $0.lineage) ?? false } ?? true ? marks?.acknowledged : nil
    }

    /// The history that leads to the last state that can be trusted, begun as early as possible.
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
            guard let chain = chain(from: entry, past: entries) else { continue }
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
                "nothing can be saved of \(directory.path): none of its \(count) snapshots can be read. Restore a backup"
            )
        }
        chain.contradicted = contradicted.filter { $0 != chain.start.entry.revision }
        if chain.start.entry != oldest { chain.lostHistory = oldest.revision }
        return chain
    }

    /// From a snapshot, past later ones; `nil` if it cannot be read.
    private func chain(from entry: SnapshotEntry, past later: ArraySlice<SnapshotEntry>) -> SalvagedChain? {
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

    /// Calls `body` with each record after `sequence`, in order, up to the first that SQLite cannot read.
    ///
    /// - Throws: ``JournalFailure`` that says what cannot be read, and whatever the body throws.
    func forEachRecord(
        after sequence: JournalSequence,
        _ body: (JournalRecord) throws(JournalFailure) -> Bool
    ) throws(JournalFailure) {
        if let unreadable { throw unreadable }
        try reader?.forEachRecord(after: sequence, body)
    }

    /// The snapshot as its file has it, or else as the database has it.
    private func beginning(at entry: SnapshotEntry) -> (JournalSnapshot, JournalWalk)? {
        let file = try? SnapshotFile(entry, in: directory).read()
        for snapshot in [file, origin].compactMap(\.self) where snapshot.entry == entry {
            if let walk = try? JournalWalk(from: snapshot) { return (snapshot, walk) }
        }
        return nil
    }

    /// Records say more than a snapshot does: one is wrong from which the next record does not lead on, and one that lies
    /// behind all that was acknowledged and that no records know.
    private func isTrusted(_ chain: SalvagedChain) -> Bool {
        if chain.end.sequence > chain.start.entry.sequence { return true }
        guard let acknowledged else { return !chain.isRefuted }
        return !chain.isRefuted && chain.end.sequence <= acknowledged.sequence
    }

    /// The incarnations in a chain; as far as they cannot be read, one in their place.
    func epochs(of chain: SalvagedChain) -> [EpochStart] {
        let known = ((try? reader?.records.epochs()) ?? []).filter { $0.epoch <= chain.epoch }
        guard known.last?.epoch != chain.epoch else { return known }
        let place = EpochStart(
            epoch: chain.epoch,
            revision: chain.start.entry.revision,
            fingerprint: chain.fingerprint,
            time: Timestamp(milliseconds: 0)
        )
        return known + [place]
    }

    /// The snapshots on the way of a chain to which it leads.
    func snapshots(in chain: SalvagedChain) -> [JournalSnapshot] {
        chain.confirmed.compactMap { try? SnapshotFile($0, in: directory).read() }
    }
}
