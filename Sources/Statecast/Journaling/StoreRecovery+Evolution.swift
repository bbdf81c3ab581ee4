internal import Journal
internal import Logging
internal import StateCoding
internal import SyncProtocol

/// What another build's state needs to become this build's is a change like any other.
extension StoreRecovery {
    /// Reads the state at the head as this build's. Nothing is written.
    ///
    /// - Returns: the state, and the record that leads to it; none if it is what was recorded.
    /// - Throws: ``JournalFailure`` with code `misfit`.
    func evolve(_ recorded: Value, _ history: History) throws -> (state: State, record: BatchRecord?) {
        let evolution = definition.evolution
        let state = try evolution.state(State.self, from: recorded, after: history.migrations)
        let tree: Value
        do { tree = try StateEncoder().value(of: state) } catch {
            throw JournalFailure(
                .misfit,
                "the journal's state cannot be encoded as a state of this build: \(error). The journal stays as it is"
            )
        }
        let patch = Patch(from: recorded, to: tree)
        if patch.isEmpty, history.migrations == evolution.count { return (state, nil) }
        let summary = Summary(of: tree)
        guard summary.bytes <= max(limits.snapshotBytesMax, history.summary.bytes) else {
            throw JournalFailure(
                .misfit,
                "the journal's state would have \(summary.bytes) bytes as a state of this build, more than the "
                    + "\(limits.snapshotBytesMax) that a replica takes. The journal stays as it is"
            )
        }
        let record = BatchRecord(
            epoch: history.epoch,
            from: history.head,
            to: patch.isEmpty ? history.head : history.head.next,
            digest: summary.digest,
            bytes: summary.bytes,
            patch: patch.isEmpty ? [] : patch.encode(),
            migrations: evolution.count
        )
        definition.logger.notice(
            "the journal's state was recorded by another build, and becomes this build's",
            metadata: ["store": "\(definition.name)", "revision": "\(record.to)"]
        )
        return (state, record)
    }
}

extension Journal {
    /// Appends a record, and goes on by it.
    func append(_ record: BatchRecord, to history: inout History, limits: Limits) throws {
        let sequence = history.sequence.next
        try append([JournalRecord(sequence: sequence, from: record.from, to: record.to, body: record.encoded)])
        try history.replay(record, at: sequence, limits: limits)
    }
}
