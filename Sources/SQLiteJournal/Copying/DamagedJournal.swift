internal import Journal
internal import StateCore
internal import SyncProtocol

/// What can still be read of a journal.
struct DamagedJournal {
    /// The records; `nil` if SQLite cannot read any.
    let reader: JournalReader?
    /// Whose history it is; `nil` if it cannot say that any more.
    let store: StoreName?

    private let directory: JournalDirectory
    private let unreadable: JournalFailure?

    /// A state, and the records that lead on from it.
    struct Chain {
        let start: JournalSnapshot
        let end: SnapshotEntry
        /// What ends it.
        let damage: String?
        /// Where the history began before a break that lies before the start.
        let lostHistory: Revision?
        /// The last incarnation of the primary in it.
        let epoch: Epoch
        /// The shape of its State.
        let fingerprint: UInt64
    }

    /// - Throws: ``JournalFailure`` if it is not damaged, but of a later version.
    init(_ directory: JournalDirectory) throws(JournalFailure) {
        self.directory = directory
        do throws(JournalFailure) {
            guard directory.hasDatabase else { throw directory.damaged("journal.sqlite is missing") }
            let records = try RecordStore(reading: directory)
            store = (try? records.identity())?.store
            reader = JournalReader(directory, records)
            unreadable = nil
        } catch {
            guard error.code != .newerFormat else { throw error }
            (reader, store, unreadable) = (nil, nil, error)
        }
    }

    /// The one that leads to the last state that can be read, begun as early as possible.
    func longestChain() throws(JournalFailure) -> Chain {
        let entries = (try? directory.snapshots()) ?? []
        guard var chain = chain(from: entries) else {
            throw JournalFailure(
                .damaged,
                "nothing can be saved of \(directory.path): none of its \(entries.count) snapshots can be read. Restore a backup"
            )
        }
        while let next = self.chain(from: entries.filter { $0.sequence > chain.end.sequence }, behind: chain) {
            chain = next
        }
        return chain
    }

    /// From the first of these snapshots that can be read.
    private func chain(from entries: [SnapshotEntry], behind broken: Chain? = nil) -> Chain? {
        for entry in entries {
            guard let snapshot = try? SnapshotFile(entry, in: directory).read(),
                var walk = try? JournalWalk(from: snapshot)
            else { continue }
            var epoch = walk.start.epoch
            var damage = unreadable?.message
            do throws(JournalFailure) {
                try reader?.forEachRecord(after: entry.sequence) { record throws(JournalFailure) in
                    epoch = try walk.advance(by: record).epoch
                    return true
                }
            } catch {
                damage = error.message
            }
            return Chain(
                start: snapshot,
                end: walk.place,
                damage: damage,
                lostHistory: broken.map { $0.lostHistory ?? $0.start.entry.revision },
                epoch: epoch,
                fingerprint: walk.start.fingerprint
            )
        }
        return nil
    }

    /// The incarnations in a chain; as far as they cannot be read, one in their place.
    func epochs(of chain: Chain) -> [EpochStart] {
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

    /// The snapshots on the way of a chain that can be read.
    func snapshots(in chain: Chain) -> [JournalSnapshot] {
        let entries = (try? directory.snapshots()) ?? []
        return entries.filter { $0.sequence > chain.start.entry.sequence && $0.sequence <= chain.end.sequence }
            .compactMap { try? SnapshotFile($0, in: directory).read() }
    }
}
