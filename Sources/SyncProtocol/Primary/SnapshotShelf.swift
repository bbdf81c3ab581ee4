/// The encoded snapshots that joiners may pull. Few, shared by all joiners, kept while they are in use.
struct SnapshotShelf: Hashable, Sendable {
    /// A whole state, encoded.
    struct Snapshot: Hashable, Sendable {
        let revision: Revision
        let digest: UInt64
        let bytes: [UInt8]
        var lastUsed: Instant
    }

    private(set) var snapshots: [Snapshot] = []

    var newest: Snapshot? { snapshots.last }

    /// Puts a snapshot on the shelf; beyond `countMax` the oldest one goes.
    mutating func add(_ snapshot: Snapshot, countMax: Int) {
        snapshots.removeAll { $0.revision == snapshot.revision }
        snapshots.append(snapshot)
        if snapshots.count > countMax { snapshots.removeFirst() }
    }

    /// The snapshot of a revision, if it is kept; notes that it was used.
    mutating func use(_ revision: Revision, at now: Instant) -> Snapshot? {
        guard let index = snapshots.firstIndex(where: { $0.revision == revision }) else { return nil }
        snapshots[index].lastUsed = now
        return snapshots[index]
    }

    /// Drops what nobody has used for as long as `retention`.
    mutating func expire(at now: Instant, retention: Duration) {
        snapshots.removeAll { $0.lastUsed.duration(to: now) >= retention }
    }

    /// When something may be dropped next.
    func nextExpiry(retention: Duration) -> Instant? {
        snapshots.map { $0.lastUsed.advanced(by: retention) }.min()
    }
}

extension SnapshotShelf.Snapshot {
    /// The bytes of one chunk; `nil` if there is none of that index.
    func chunk(_ index: UInt32, chunkBytes: Int) -> ArraySlice<UInt8>? {
        let start = Int(index) * chunkBytes
        guard start < bytes.count || (start == 0 && bytes.isEmpty) else { return nil }
        return bytes[start..<min(bytes.count, start + chunkBytes)]
    }
}
