package import StatecastCoding
public import StatecastCore

/// The state from which an incarnation of the primary continues.
package struct History: Hashable, Sendable {
    package let lineage: Lineage
    /// The new incarnation; before it begins, that of the last snapshot.
    package private(set) var epoch: Epoch
    var incarnation: Incarnation { Incarnation(lineage: lineage, epoch: epoch) }
    /// The starts of the previous incarnations, and of this one once it is claimed.
    package var epochs: EpochTable
    /// The last durable revision.
    package var head: Revision
    /// The last record.
    package var sequence: JournalSequence
    /// The digest and size of the state at the head.
    package var summary: Summary
    package var sessions: SessionTable
    /// The number of migrations that the state at the head went through.
    package var migrations = 0
    /// The last updates up to the head, for replicas that reconnect: those that were replayed. Replicas that missed
    /// earlier ones start from a snapshot.
    private(set) var ring = UpdateRing()

    /// Begins at a snapshot.
    package init(
        lineage: Lineage,
        epoch: Epoch,
        epochs: [EpochStart],
        from context: SnapshotContext,
        at sequence: JournalSequence,
        _ revision: Revision
    ) {
        self.init(lineage: lineage, epoch: epoch, summary: context.summary)
        self.epochs = EpochTable(epochs)
        self.sequence = sequence
        head = revision
        sessions = context.sessions
        migrations = context.migrations
    }

    /// Begins a lineage.
    package init(lineage: Lineage, epoch: Epoch, summary: Summary) {
        self.lineage = lineage
        self.epoch = epoch
        self.summary = summary
        epochs = EpochTable([])
        head = Revision(0)
        sequence = JournalSequence(0)
        sessions = SessionTable()
    }

    /// Begins an incarnation at the end of the history.
    ///
    /// - Parameter starts: of the previous incarnations.
    package mutating func begin(_ epoch: Epoch, _ starts: [EpochStart]) {
        (self.epoch, epochs) = (epoch, EpochTable(starts))
        // Joiners get the updates in the name of this incarnation.
        ring.rename(to: epoch)
    }

    /// Applies a record.
    ///
    /// - Throws: ``CodingFailure`` if the record does not begin at the end of this history.
    package mutating func replay(
        _ record: BatchRecord,
        at sequence: JournalSequence,
        limits: Limits
    ) throws(CodingFailure) {
        guard record.from == head, sequence == self.sequence.next else {
            throw CodingFailure(
                .malformed,
                "record \(sequence) from revision \(record.from) cannot follow record \(self.sequence) at revision "
                    + "\(head)"
            )
        }
        try sessions.replay(
            record,
            maxCount: limits.maxWindowActions,
            maxMessageBytes: limits.maxSessionMessageBytes
        )
        if record.to > record.from {
            let update = incarnation.update(from: record.from, to: record.to, patch: record.patch)
            // The update exceeds a frame: replicas at earlier revisions start from a snapshot.
            if record.patch.count > limits.maxPatchBytes {
                ring = UpdateRing()
            } else {
                ring.append(update, limits: limits)
            }
        }
        (head, self.sequence) = (record.to, sequence)
        migrations = record.migrations ?? migrations
        summary = record.summary
    }
}

/// One start of a primary within a history, in whose name updates and receipts are published.
struct Incarnation: Hashable, Sendable {
    let lineage: Lineage
    let epoch: Epoch

    func position(at revision: Revision) -> Position { Position(lineage: lineage, epoch: epoch, revision: revision) }

    func update(from: Revision, to: Revision, patch: [UInt8]) -> Update {
        Update(lineage: lineage, epoch: epoch, from: from, to: to, patch: patch)
    }

    func key(of revision: Revision, start: UInt64? = nil) -> IdempotencyKey {
        IdempotencyKey(
            lineage: lineage.description,
            epoch: epoch.rawValue,
            revision: revision.rawValue,
            index: 0,
            start: start
        )
    }
}

/// The start of an incarnation of the primary.
public struct EpochStart: Hashable, Sendable {
    /// The incarnation.
    public let epoch: Epoch
    /// The revision at the start.
    public let revision: Revision
    /// The declared version of its State.
    public let stateVersion: UInt64
    /// The time of the start.
    public let time: Timestamp

    /// Creates a start.
    public init(epoch: Epoch, revision: Revision, stateVersion: UInt64, time: Timestamp) {
        self.epoch = epoch
        self.revision = revision
        self.stateVersion = stateVersion
        self.time = time
    }
}

/// The starts of a lineage's incarnations, which show whether a position is still part of the history.
package struct EpochTable: Hashable, Sendable {
    /// Ascending.
    private var starts: [EpochStart]

    package init(_ starts: [EpochStart]) { self.starts = starts }

    package mutating func append(_ start: EpochStart) { starts.append(start) }

    /// The last revision of an incarnation that is still part of the history: the start of the next one. `nil` for the
    /// last incarnation and for unknown ones.
    func end(of epoch: Epoch) -> Revision? {
        starts.first { $0.epoch > epoch }.map(\.revision)
    }
}

/// The part of a snapshot beside the state: all other data from which a primary continues.
package struct SnapshotContext: Hashable, Sendable {
    /// The incarnation that made the snapshot.
    package let epoch: Epoch
    /// The declared version of the encoded State.
    package let stateVersion: UInt64
    /// The digest and size of the state.
    package let summary: Summary
    /// The sessions with their durable outcomes.
    package let sessions: SessionTable
    /// The number of migrations that the state went through.
    package let migrations: Int

    package init(epoch: Epoch, stateVersion: UInt64, summary: Summary, sessions: SessionTable, migrations: Int) {
        self.epoch = epoch
        self.stateVersion = stateVersion
        self.summary = summary
        self.sessions = sessions
        self.migrations = migrations
    }

    /// The encoding in CBOR; later versions may append elements.
    package var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.array(count: 6)
        writer.write(epoch)
        writer.unsigned(stateVersion)
        writer.unsigned(summary.digest)
        writer.write(count: summary.bytes)
        sessions.write(to: &writer)
        writer.write(count: migrations)
        return writer.bytes
    }

    package init(decoding bytes: [UInt8]) throws(CodingFailure) {
        var reader = CBORReader(bytes)
        let count = try reader.arrayCount(atLeast: 6)
        epoch = try reader.quantity()
        stateVersion = try reader.unsigned()
        summary = Summary(digest: try reader.unsigned(), bytes: try reader.count())
        sessions = try SessionTable(from: &reader)
        migrations = try reader.count()
        for _ in 6..<count { try reader.skip() }
        try reader.requireEnd()
    }
}
