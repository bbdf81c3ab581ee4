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

    /// The bytes of records that are read at once.
    private static var bytesAtOnce: Int { 8 << 20 }

    /// - Parameter lineage: of a new history.
    init(_ definition: TypedStore<State>, limits: Limits, time: Timestamp, lineage: Lineage) {
        self.definition = definition
        self.limits = limits
        self.time = time
        self.lineage = lineage
    }

    /// Opens the journal, and recovers its state or begins a history in it.
    ///
    /// - Throws: ``StatecastError`` with code `journal`; then the journal is closed.
    func run(_ journal: any Journal) throws(StatecastError) -> RecoveredStore<State> {
        let began = ContinuousClock.now
        do {
            let contents = try journal.open()
            do {
                var recovered = try contents.map { try recover(journal, $0) } ?? begin(journal)
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
        var history = History(lineage: identity.lineage, epoch: Epoch(1), summary: definition.summary)
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
        try journal.begin(identity, from: JournalSnapshot(entry, context: context.encoded, state: state))
        return try claim(history, definition.state, journal, SnapshotSchedule())
    }

    private func recover(_ journal: any Journal, _ contents: JournalContents) throws -> RecoveredStore<State> {
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
        let (snapshot, isFileLost) = try newestSnapshot(of: journal)
        var recovered = try recover(journal, contents, from: snapshot)
        recovered.report?.snapshot = snapshot.entry.revision
        // Replaces the damaged snapshots.
        if snapshot.entry != (try journal.snapshots().last) { recovered.snapshots.isWanted = true }
        if isFileLost { storeAgain(snapshot, in: journal) }
        return recovered
    }

    private func recover(
        _ journal: any Journal,
        _ contents: JournalContents,
        from snapshot: JournalSnapshot
    ) throws -> RecoveredStore<State> {
        let context = try SnapshotContext(decoding: snapshot.context)
        let start = History(contents, context, snapshot.entry)
        // Decoding the state directly takes less time and memory than a tree. The digest shows whether this build's
        // type holds all that was recorded.
        do {
            let typed = try replay(start, on: StateContent<State>(snapshot.state), journal, through: contents.last)
            if typed.history.migrations == definition.evolution.count {
                return try claim(typed.history, typed.content.state, journal, typed.snapshots)
            }
        } catch is OtherShape {
            // Another build recorded the state, or this one cannot hold it: the tree shows which.
        }
        let (history, content, replayed) = try replay(
            start,
            on: TreeContent(snapshot.state),
            journal,
            through: contents.last
        )
        let (state, record) = try evolve(content.tree, history)
        // The newest snapshot has another schema and is read as an untyped value. A new one is read directly.
        var snapshots = replayed
        snapshots.isWanted = true
        return try claim(history, state, journal, snapshots, record)
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

    /// Replays all records after a snapshot.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged` if the resulting state is not the recorded one.
    private func replay<Content: RecoveredContent>(
        _ start: History,
        on content: Content,
        _ journal: any Journal,
        through last: JournalSequence
    ) throws -> (history: History, content: Content, snapshots: SnapshotSchedule) {
        var (history, content, snapshots) = (start, content, SnapshotSchedule(after: start.sequence))
        while history.sequence < last {
            let records = try journal.records(after: history.sequence, maxBytes: Self.bytesAtOnce)
            guard !records.isEmpty else { break }
            var composer = PatchComposer()
            for record in records {
                let batch = try BatchRecord(decoding: record.body)
                snapshots.count(record.body.count)
                try history.replay(batch, at: record.sequence, limits: limits)
                if batch.to > batch.from { composer.append(try Patch(decoding: batch.patch)) }
            }
            try content.apply(composer.finish())
        }
        guard history.sequence == last else {
            throw JournalFailure(
                .damaged,
                "the journal's records lead to record \(history.sequence), and record \(last) is the last one: "
                    + "restore a backup"
            )
        }
        let digest = try content.digest()
        guard digest == history.summary.digest else {
            throw content.mismatch
                ?? JournalFailure(
                    .damaged,
                    "the journal leads to a state at revision \(history.head) whose digest is \(digest), and "
                        + "\(history.summary.digest) "
                        + "was recorded: restore a backup"
                )
        }
        return (history, content, snapshots)
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

extension History {
    fileprivate init(_ contents: JournalContents, _ context: SnapshotContext, _ entry: SnapshotEntry) {
        self.init(
            lineage: contents.identity.lineage,
            epoch: (contents.epochs.last?.epoch ?? context.epoch).next,
            epochs: contents.epochs,
            from: context,
            at: entry.sequence,
            entry.revision
        )
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

/// A state during its recovery.
private protocol RecoveredContent {
    mutating func apply(_ patch: Patch) throws
    func digest() throws -> UInt64
    /// Why its digest can differ from the recorded one without damage; otherwise `nil`.
    var mismatch: OtherShape? { get }
}

/// The recorded state does not have the shape of this build's type.
private struct OtherShape: Error {}

/// A state in this build's type.
private struct StateContent<State: Codable>: RecoveredContent {
    private(set) var state: State

    init(_ bytes: [UInt8]) throws(OtherShape) {
        do { state = try StateDecoder().decode(State.self, from: bytes) } catch { throw OtherShape() }
    }

    mutating func apply(_ patch: Patch) throws(OtherShape) {
        do { try patch.apply(to: &state) } catch { throw OtherShape() }
    }
    func digest() throws(OtherShape) -> UInt64 {
        do { return try Summary(ofEncoded: StateEncoder().encode(state)).digest } catch { throw OtherShape() }
    }
    var mismatch: OtherShape? { OtherShape() }
}

/// A state in its recorded shape.
private struct TreeContent: RecoveredContent {
    private(set) var tree: Value

    init(_ bytes: [UInt8]) throws { tree = try Value(decoding: bytes) }

    mutating func apply(_ patch: Patch) throws { try patch.apply(to: &tree) }
    func digest() -> UInt64 { Summary(of: tree).digest }
    var mismatch: OtherShape? { nil }
}
