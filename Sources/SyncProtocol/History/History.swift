package import StateCoding

/// What an incarnation of the primary goes on from.
package struct History: Hashable, Sendable {
    package let lineage: Lineage
    /// The incarnation that begins.
    package let epoch: Epoch
    /// Where the incarnations began, this one included.
    package var epochs: EpochTable
    /// The last durable revision.
    package var head: Revision
    /// The last record.
    package var sequence: JournalSequence
    /// Digest and size of the state at the head.
    package var summary: Summary
    package var sessions: SessionTable
    /// How many migrations the state at the head has been through.
    package var migrations = 0
    /// The last updates, up to the head, for replicas that come back.
    private(set) var ring = UpdateRing()

    /// Where a snapshot was taken.
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

    /// The beginning of a lineage.
    package init(lineage: Lineage, epoch: Epoch, summary: Summary) {
        self.lineage = lineage
        self.epoch = epoch
        self.summary = summary
        epochs = EpochTable([])
        head = Revision(0)
        sequence = JournalSequence(0)
        sessions = SessionTable()
    }

    /// Goes on by a record.
    ///
    /// - Throws: ``CodingFailure`` if it does not begin where this history ends.
    package mutating func replay(
        _ record: BatchRecord,
        at sequence: JournalSequence,
        limits: Limits
    ) throws(CodingFailure) {
        guard record.from == head, sequence == self.sequence.next else {
            throw CodingFailure(
                .malformed,
                "record \(sequence) from revision \(record.from) cannot follow record \(self.sequence) at revision \(head)"
            )
        }
        try sessions.replay(
            record,
            countMax: limits.windowActionsMax,
            messageBytesMax: limits.sessionMessageBytesMax
        )
        if record.to > record.from {
            // To whoever joins, this incarnation says it.
            let update = Update(lineage: lineage, epoch: epoch, from: record.from, to: record.to, patch: record.patch)
            // A frame has no room for it: who stands before it starts from a snapshot.
            if record.patch.count > limits.patchBytesMax {
                ring = UpdateRing()
            } else {
                ring.append(update, limits: limits)
            }
        }
        (head, self.sequence) = (record.to, sequence)
        migrations = record.migrations ?? migrations
        summary = Summary(digest: record.digest, bytes: record.bytes)
    }
}
