import Logging
import StatecastCoding
import StatecastJournal
import StatecastProtocol

/// Recovers a store from its journal: the newest snapshot, and the patches after it.
///
/// Blocks while it reads; must not run on a loop.
struct StoreRecovery<State: Codable & Equatable & Sendable> {
    private let definition: TypedStore<State>
    private let limits: Limits
    private let time: Timestamp
    private let lineage: Lineage
    private let onProgress: RecoveryProgress

    /// - Parameter lineage: of a new history.
    init(
        _ definition: TypedStore<State>,
        limits: Limits,
        time: Timestamp,
        lineage: Lineage,
        _ onProgress: @escaping RecoveryProgress = { _ in }
    ) {
        self.definition = definition
        self.limits = limits
        self.time = time
        self.lineage = lineage
        self.onProgress = onProgress
    }

    /// Opens the journal, and recovers its state or begins a history in it.
    ///
    /// - Parameter copy: returns a copy that holds the first records; `nil`: the newest snapshot is read.
    /// - Throws: ``StatecastError`` with code `journal`; then the journal is closed.
    func run(
        _ journal: any Journal,
        from copy: (JournalContents) throws -> StoreCopy<State>? = { _ in nil }
    ) throws(StatecastError) -> RecoveredStore<State> {
        let began = ContinuousClock.now
        do {
            let contents = try journal.open()
            do {
                var recovered = try contents.map { try recover(journal, $0, from: copy) } ?? begin(journal)
                recovered.report?.duration = began.duration(to: .now)
                return recovered
            } catch {
                journal.close()
                throw error
            }
        } catch {
            var failure = error
            if error is CodingFailure {
                // The checksum is right, so another program or version wrote it.
                failure = JournalFailure(
                    .damaged,
                    "the journal \(journal) of the store \"\(definition.name)\" holds something that cannot be read: "
                        + "\(error). "
                        + "Restore a backup"
                )
            }
            let isKnown = failure is JournalFailure
            let message = isKnown ? "\(failure)" : "the journal of the store \"\(definition.name)\": \(failure)"
            throw StatecastError(.journal, message, cause: failure)
        }
    }

    private func begin(_ journal: any Journal) throws -> RecoveredStore<State> {
        let identity = JournalIdentity(store: definition.name, lineage: lineage, begun: time)
        let (history, snapshot) = try beginning(lineage, Epoch(1))
        try journal.begin(identity, from: snapshot)
        return try claim(history, definition.state, journal, SnapshotSchedule())
    }

    /// A shared journal is created without a state, which only a primary knows.
    private func isNew(_ journal: SharedJournal, _ contents: JournalContents) throws -> Bool {
        try contents.last == JournalSequence(0) && journal.snapshots().isEmpty
    }

    private func begin(_ journal: SharedJournal, _ contents: JournalContents) throws -> RecoveredStore<State> {
        var (history, snapshot) = try beginning(contents.identity.lineage, contents.nextEpoch(after: Epoch(0)))
        history.begin(history.epoch, contents.epochs)
        try journal.store(snapshot, as: .regular)
        return try claim(history, definition.state, journal, SnapshotSchedule())
    }

    private func beginning(_ lineage: Lineage, _ epoch: Epoch) throws -> (History, JournalSnapshot) {
        var history = History(lineage: lineage, epoch: epoch, summary: definition.summary)
        history.migrations = definition.evolution.count
        let context = SnapshotContext(
            epoch: history.epoch,
            stateVersion: definition.stateVersion,
            summary: history.summary,
            sessions: history.sessions,
            migrations: history.migrations
        )
        let entry = SnapshotEntry(sequence: history.sequence, revision: history.head)
        let state = try StateEncoder().encode(definition.state)
        return (history, JournalSnapshot(entry, context: context.encoded, state: state))
    }

    private func recover(
        _ journal: any Journal,
        _ contents: JournalContents,
        from copy: (JournalContents) throws -> StoreCopy<State>?
    ) throws -> RecoveredStore<State> {
        guard contents.identity.store == definition.name else {
            throw JournalFailure(
                .misfit,
                "the journal holds the store \"\(contents.identity.store)\", not \"\(definition.name)\": choose "
                    + "another one"
            )
        }
        if contents.droppedCount > 0 {
            definition.logger.warning(
                "dropped the journal's last \(contents.droppedCount) records: damaged, and never acknowledged"
            )
        }
        try definition.table.checkNames(in: journal, contents, retired: definition.evolution.retiredActions)
        if var copy = try copy(contents) {
            do {
                try advance(&copy, journal, through: contents.last)
                var recovered = try start(copy, contents, journal)
                recovered.report?.snapshot = copy.start
                return recovered
            } catch is OtherShape {
                // As below.
            }
        }
        if let shared = journal as? SharedJournal, try isNew(shared, contents) { return try begin(shared, contents) }
        let (snapshot, isFileLost) = try newestSnapshot(of: journal)
        var recovered = try recover(journal, contents, from: snapshot)
        recovered.report?.snapshot = snapshot.entry.revision
        // Replaces the damaged snapshots.
        if snapshot.entry != (try journal.snapshots().last) { recovered.snapshots.isWanted = true }
        if isFileLost { storeAgain(snapshot, in: journal) }
        return recovered
    }

    private func advance(
        _ copy: inout StoreCopy<State>,
        _ journal: any Journal,
        through last: JournalSequence
    ) throws {
        let (store, first) = (definition.name, copy.history.sequence.rawValue)
        let total = Double(max(last.rawValue, first) - first)
        try copy.advance(journal, through: last) { reached in
            let done = Double(reached.rawValue - first)
            let gauges = [NodeMetric.primaryRecoveredRecords: done, .primaryRecoveryRecords: total]
            onProgress(StoreHealth(store: store, gauges: gauges))
        }
    }

    private func recover(
        _ journal: any Journal,
        _ contents: JournalContents,
        from snapshot: JournalSnapshot
    ) throws -> RecoveredStore<State> {
        // Decoding the state directly takes less time and memory than a tree. The digest shows whether this build's
        // type holds all that was recorded.
        do {
            var typed = try StoreCopy<State>(of: snapshot, contents, isTyped: true, limits: limits)
            try advance(&typed, journal, through: contents.last)
            return try start(typed, contents, journal)
        } catch is OtherShape {
            // Another build recorded the state, or this one cannot hold it: the tree shows which.
        }
        var tree = try StoreCopy<State>(of: snapshot, contents, isTyped: false, limits: limits)
        try advance(&tree, journal, through: contents.last)
        return try start(tree, contents, journal)
    }

    /// Begins an incarnation with a copy that holds all records.
    ///
    /// - Throws: `OtherShape` if a copy in this build's type cannot hold the recorded state.
    func start(_ copy: StoreCopy<State>, _ contents: JournalContents, _ journal: any Journal) throws -> RecoveredStore<
        State
    > {
        try copy.check(contents.last)
        var history = copy.history
        history.begin(contents.nextEpoch(after: history.epoch), contents.epochs)
        switch copy.content {
        case .typed(let content):
            guard history.migrations == definition.evolution.count else { throw OtherShape() }
            return try claim(history, content.state, journal, copy.snapshots)
        case .tree(let content):
            let (state, record) = try evolve(content.tree, history)
            // The newest snapshot has another schema and is read as an untyped value. A new one is read directly.
            var snapshots = copy.snapshots
            snapshots.isWanted = true
            return try claim(history, state, journal, snapshots, record)
        }
    }

    /// Compares a snapshot with the last record that it contains, which the journal keeps as long as the snapshot.
    private func confirm(_ snapshot: JournalSnapshot, in journal: any Journal) throws {
        let entry = snapshot.entry
        guard entry.sequence > JournalSequence(0),
            let record = try? journal.records(after: JournalSequence(entry.sequence.rawValue - 1), maxBytes: 1).first,
            record.sequence == entry.sequence
        else { return }
        let (batch, context) = (try BatchRecord(decoding: record.body), try SnapshotContext(decoding: snapshot.context))
        guard batch.to == entry.revision, batch.summary == context.summary else {
            throw JournalFailure(
                .damaged,
                "the snapshot of revision \(entry.revision) is not what record \(entry.sequence) led to"
            )
        }
    }

    /// The newest intact snapshot: from an older one, more records lead to the same state. The first one is stored
    /// twice.
    ///
    /// - Returns: the snapshot, and whether only its copy in the database is left.
    private func newestSnapshot(of journal: any Journal) throws -> (snapshot: JournalSnapshot, isFileLost: Bool) {
        var failures: [any Error] = []
        for entry in try journal.snapshots().reversed() {
            do {
                let snapshot = try journal.snapshot(entry)
                try confirm(snapshot, in: journal)
                warn(of: failures)
                return (snapshot, false)
            } catch {
                failures.append(error)
            }
        }
        if let origin = try? journal.origin() {
            warn(of: failures)
            return (origin, true)
        }
        // The first failure is thrown, so it is not logged.
        warn(of: failures.dropFirst())
        throw failures.first ?? JournalFailure(.damaged, "the journal has no snapshot: restore a backup")
    }

    private func warn(of failures: some Sequence<any Error>) {
        for failure in failures {
            let reason = (failure as? JournalFailure)?.reason ?? "\(failure)"
            definition.logger.warning(
                "a snapshot is passed over, an older one and the records lead to the same state: \(reason)",
                metadata: ["store": "\(definition.name)"]
            )
        }
    }

    /// Writes the first snapshot's file again from its copy in the database.
    private func storeAgain(_ origin: JournalSnapshot, in journal: any Journal) {
        do { try journal.store(origin) } catch {
            definition.logger.warning(
                "the first snapshot is still kept only once: \(error)",
                metadata: ["store": "\(definition.name)"]
            )
        }
    }

    /// Begins an incarnation at the end of the last one.
    private func claim(
        _ history: History,
        _ state: State,
        _ journal: any Journal,
        _ snapshots: SnapshotSchedule,
        _ evolution: BatchRecord? = nil
    ) throws -> RecoveredStore<State> {
        let start = EpochStart(
            epoch: history.epoch,
            revision: history.head,
            stateVersion: definition.stateVersion,
            time: time
        )
        try journal.claim(start)
        journal.crashMarker.open()
        let replayed = snapshots.records
        var history = history
        history.epochs.append(start)
        if let evolution { try journal.append(evolution, to: &history, limits: limits) }
        return RecoveredStore(
            definition: definition,
            state: state,
            history: history,
            journal: journal,
            snapshots: snapshots,
            report: RecoveryReport(records: replayed)
        )
    }
}

extension JournalContents {
    /// The epoch of the next incarnation.
    ///
    /// - Parameter epoch: of a snapshot, in case the starts of incarnations are lost.
    fileprivate func nextEpoch(after epoch: Epoch) -> Epoch {
        max((epochs.last?.epoch ?? epoch).next, term ?? Epoch(0))
    }
}

/// The conversion of another build's state is a change like any other.
extension StoreRecovery {
    /// Converts the state at the head to this build's. Nothing is written.
    ///
    /// - Returns: the state, and the record that leads to it; none if the recorded state is unchanged.
    /// - Throws: ``JournalFailure`` with code `misfit`.
    private func evolve(_ recorded: Value, _ history: History) throws -> (state: State, record: BatchRecord?) {
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
        guard summary.bytes <= max(limits.maxSnapshotBytes, history.summary.bytes) else {
            throw JournalFailure(
                .misfit,
                "the journal's state would have \(summary.bytes) bytes as a state of this build, more than the "
                    + "\(limits.maxSnapshotBytes) that a replica takes. The journal stays as it is"
            )
        }
        let record = BatchRecord(
            epoch: history.epoch,
            from: history.head,
            to: patch.isEmpty ? history.head : history.head.next,
            summary: summary,
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
    /// Appends a record, and advances the history by it.
    fileprivate func append(_ record: BatchRecord, to history: inout History, limits: Limits) throws {
        let sequence = history.sequence.next
        let head = RecordHead(
            epoch: record.epoch,
            from: record.from,
            to: record.to,
            summary: record.summary,
            migrations: record.migrations
        )
        let body = RecordEntries().body(head, frames: [], forgotten: [], patch: record.patch, maxMessageBytes: 0)
        try append([JournalRecord(sequence: sequence, from: record.from, to: record.to, body: body)])
        try history.replay(record, at: sequence, limits: limits)
    }
}
