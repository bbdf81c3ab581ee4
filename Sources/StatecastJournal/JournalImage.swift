package import StatecastProtocol

/// The content of a journal as a value: what ``MemoryJournal`` holds, and what a simulated disk keeps and loses.
package struct JournalImage: Sendable {
    private var identity: JournalIdentity?
    package private(set) var epochs: [EpochStart] = []
    package private(set) var records: [JournalRecord] = []
    /// The last pruned record, or the one at which the history began.
    private var pruned = JournalSequence(0)
    private var stored: [JournalSnapshot] = []
    /// The snapshot that the next one replaces.
    private var interim: SnapshotEntry?
    /// The bytes of all records.
    package private(set) var recordBytes = 0

    package init() {}

    /// `nil` without a history.
    package var contents: JournalContents? {
        identity.map { JournalContents(identity: $0, epochs: epochs, last: last) }
    }

    /// The last record.
    package var last: JournalSequence { records.last?.sequence ?? pruned }

    /// The revision after the last record; `nil` without a history.
    package var head: Revision? { records.last?.to ?? stored.last?.entry.revision }

    /// Begins a history whose first snapshot comes later.
    package mutating func create(_ identity: JournalIdentity) {
        precondition(self.identity == nil, "this journal has a history already")
        self.identity = identity
    }

    package mutating func begin(_ identity: JournalIdentity, from snapshot: JournalSnapshot) {
        create(identity)
        stored = [snapshot]
        pruned = snapshot.entry.sequence
    }

    package mutating func claim(_ epoch: EpochStart) { epochs.append(epoch) }

    package mutating func append(_ records: [JournalRecord]) {
        for record in records {
            precondition(record.sequence == last.next, "record \(record.sequence) cannot follow \(last)")
            self.records.append(record)
            recordBytes += record.body.count
        }
    }

    package func records(after sequence: JournalSequence, maxBytes: Int) throws(JournalFailure) -> [JournalRecord] {
        guard sequence >= pruned else { throw JournalFailure(.pruned, "record \(sequence.next) is no longer kept") }
        var bytes = 0
        let later = records.dropFirst(sequence.distance(beyond: pruned))
        let end = later.firstIndex { record in
            bytes += record.body.count
            return bytes > maxBytes
        }
        return Array(later[..<max(end ?? later.endIndex, min(later.startIndex + 1, later.endIndex))])
    }

    package var snapshots: [SnapshotEntry] { stored.map(\.entry) }

    package func snapshot(_ entry: SnapshotEntry) throws(JournalFailure) -> JournalSnapshot {
        guard let snapshot = stored.first(where: { $0.entry == entry }) else {
            throw JournalFailure(.pruned, "the snapshot of revision \(entry.revision) is no longer kept")
        }
        return snapshot
    }

    package mutating func store(_ snapshot: JournalSnapshot, as kind: SnapshotKind) {
        stored.removeAll { $0.entry.sequence >= snapshot.entry.sequence || $0.entry == interim }
        stored.append(snapshot)
        interim = kind == .interim ? snapshot.entry : nil
    }

    package mutating func prune(keeping historyBytes: Int) {
        while stored.count > 2 {
            let start = stored[1].entry.sequence
            let removed = records.prefix(start.distance(beyond: pruned))
            let bytes = removed.reduce(0) { $0 + $1.body.count }
            guard recordBytes - bytes >= historyBytes else { return }
            records.removeFirst(removed.count)
            stored.removeFirst()
            recordBytes -= bytes
            pruned = start
        }
    }
}
