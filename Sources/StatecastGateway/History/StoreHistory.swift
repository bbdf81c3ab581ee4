import DequeModule
import Statecast
import StatecastCoding
import StatecastJournal
import StatecastProtocol
import StatecastSQLite
import StatecastThreading

/// The history of a store: its journal on this machine, read only, and some past states.
final class StoreHistory: Sendable {
    /// A state at the end of a batch.
    struct Version: Sendable {
        let place: SnapshotEntry
        let tree: Value
    }

    let reader: JournalReader
    let row: ActionRow
    /// The parts of states that no answer contains.
    let hidden: HiddenPaths
    let identity: JournalIdentity
    let path: String
    /// Past states, the one used last at the end. Most share nodes, as each was reached from another one.
    private let versions = Locked<[Version]>([])

    private static let maxVersions = 8

    /// - Throws: `JournalFailure`, or ``GatewayFailure`` if the journal is of another store.
    init(at path: String, of store: String, row: ActionRow, hiding hidden: HiddenPaths) throws {
        (self.path, self.row, self.hidden) = (path, row, hidden)
        reader = try JournalReader(at: path)
        identity = try reader.contents().identity
        guard identity.store.text == store else {
            throw GatewayFailure(.noJournal, "the journal \(path) is of store \(identity.store), not of \(store)")
        }
    }

    /// The epoch that wrote a record that ends at a revision.
    func epoch(at revision: Revision) throws -> Epoch {
        try reader.epochs().last { $0.revision <= revision }?.epoch ?? Epoch(0)
    }

    /// Checks that the journal has an epoch of the primary.
    ///
    /// - Throws: ``GatewayFailure`` with code `no-journal`.
    func requireKnown(_ epoch: Epoch) throws {
        guard try reader.epochs().last.map({ $0.epoch >= epoch }) ?? false else {
            throw GatewayFailure(
                .noJournal,
                "the journal \(path) has no epoch \(epoch), which the primary publishes: it was replaced, or is that "
                    + "of another primary; the gateway opens it again",
                retryAfter: 5
            )
        }
    }

    func position(of version: Version) throws -> Position {
        let revision = version.place.revision
        return Position(lineage: identity.lineage, epoch: try epoch(at: revision), revision: revision)
    }

    /// The state at the end of the last batch that ended at or before a revision.
    ///
    /// Continues from the nearest earlier state that is known or has a snapshot. What a request reaches within its
    /// budget is kept, so that the same request goes on from there.
    ///
    /// - Throws: `JournalFailure` with code `pruned` or `damaged`; ``GatewayFailure`` with code `budget`.
    func state(at revision: Revision, _ budget: inout ReadBudget) throws -> Version {
        let snapshots = try keptSnapshots(reaching: revision)
        let oldest = snapshots[0]
        let target = max(try reader.sequence(at: revision) ?? snapshots[snapshots.count - 1].sequence, oldest.sequence)
        let snapshot = snapshots.last { $0.sequence <= target } ?? oldest
        var version: Version
        if let known = versions.withLock({ versions in
            versions.filter { $0.place.sequence <= target }.max { $0.place.sequence < $1.place.sequence }
        }), known.place.sequence >= snapshot.sequence {
            version = known
        } else {
            version = try read(snapshot)
        }
        var isComplete = version.place.sequence >= target
        while !isComplete {
            let records = try reader.records(
                after: version.place.sequence,
                maxBytes: min(ReadBudget.window, max(1, budget.bytesLeft))
            )
            guard !records.isEmpty else { break }
            var tree = version.tree
            var place = version.place
            for record in records where record.sequence <= target {
                do { try BatchRecord.patch(in: record.body)?.apply(to: &tree) } catch {
                    throw JournalFailure(.damaged, "record \(record.sequence) cannot be read: \(error)")
                }
                place = SnapshotEntry(sequence: record.sequence, revision: record.to)
                budget.spend(record.body.count)
            }
            version = Version(place: place, tree: tree)
            isComplete = place.sequence >= target
            if !isComplete, budget.isSpent {
                keep(version)
                throw GatewayFailure(
                    .budget,
                    "the state at revision \(revision) needs more than \(ReadBudget.time) to replay; ask again to go "
                        + "on from revision \(place.revision)",
                    retryAfter: 0
                )
            }
        }
        keep(version)
        return version
    }

    /// The kept snapshots, at least one.
    ///
    /// - Throws: `JournalFailure` with code `damaged`; with code `pruned` if the kept history begins after `revision`.
    func keptSnapshots(reaching revision: Revision? = nil) throws -> [SnapshotEntry] {
        let snapshots = try reader.snapshots()
        guard let oldest = snapshots.first else { throw JournalFailure(.damaged, "the journal has no snapshot") }
        if let revision, revision < oldest.revision {
            throw JournalFailure(
                .pruned,
                "revision \(revision) is no longer kept: the journal begins at revision \(oldest.revision)"
            )
        }
        return snapshots
    }

    private func read(_ entry: SnapshotEntry) throws -> Version {
        let snapshot = try reader.snapshot(entry)
        // They share no nodes with a state from the file. The last one stays, for the difference of two.
        versions.withLock { $0 = Array($0.suffix(1)) }
        return Version(place: entry, tree: try Value(decoding: snapshot.state))
    }

    private func keep(_ version: Version) {
        versions.withLock { versions in
            versions.removeAll { $0.place == version.place }
            versions.append(version)
            if versions.count > Self.maxVersions { versions.removeFirst() }
        }
    }
}
