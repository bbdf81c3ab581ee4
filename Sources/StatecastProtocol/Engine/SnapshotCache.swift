/// The encoded snapshots for joiners: few, shared by all joiners, kept while they are in use.
struct SnapshotCache: Hashable, Sendable {
    /// An encoded state.
    struct Snapshot: Hashable, Sendable {
        let revision: Revision
        let digest: UInt64
        let bytes: [UInt8]
        var lastUsed: Instant

        /// The bytes of a chunk; `nil` if the index is out of range.
        func chunk(_ index: UInt32, chunkBytes: Int) -> ArraySlice<UInt8>? {
            let start = Int(index) * chunkBytes
            guard start < bytes.count || (start == 0 && bytes.isEmpty) else { return nil }
            return bytes[start..<min(bytes.count, start + chunkBytes)]
        }
    }

    private(set) var snapshots: [Snapshot] = []

    var newest: Snapshot? { snapshots.last }

    /// Adds a snapshot; beyond `maxCount` evicts the oldest.
    mutating func add(_ snapshot: Snapshot, maxCount: Int) {
        snapshots.removeAll { $0.revision == snapshot.revision }
        snapshots.append(snapshot)
        if snapshots.count > maxCount { snapshots.removeFirst() }
    }

    /// The snapshot of a revision, if it is cached. Updates its last use.
    mutating func use(_ revision: Revision, at now: Instant) -> Snapshot? {
        guard let index = snapshots.firstIndex(where: { $0.revision == revision }) else { return nil }
        snapshots[index].lastUsed = now
        return snapshots[index]
    }

    /// Evicts the snapshots that have not been used for `retention`.
    mutating func expire(at now: Instant, retention: Duration) {
        snapshots.removeAll { $0.lastUsed.duration(to: now) >= retention }
    }

    /// The time of the next eviction.
    func nextExpiry(retention: Duration) -> Instant? {
        snapshots.map { $0.lastUsed.advanced(by: retention) }.min()
    }
}
