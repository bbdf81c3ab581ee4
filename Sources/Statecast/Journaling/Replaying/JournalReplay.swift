internal import Journal
public import StateCoding
public import SyncProtocol

/// Runs the actions that a journal recorded through this build's reducer, and says where the outcome differs from what was
/// recorded: whether a reducer is deterministic, and whether a new build does what the old one did.
///
/// ```swift
/// let replay = try JournalReplay(of: Fleet.self, actions: Fleet.actions, reducer: Fleet.reducer)
/// let report = try replay.run(JournalReader(at: "backup"))
/// #expect(report.difference == nil)
/// ```
///
/// It begins at the oldest snapshot, or behind the last change of the state's shape. What was rejected is left out, migrations are taken as recorded, effects do not run.
public struct JournalReplay<State: Codable & Equatable & Sendable>: Sendable {
    let registry: ActionRegistry
    let reducer: Reducer<State>

    /// A replay on this build's types.
    ///
    /// - Throws: ``StatecastError`` with code `definition` if two actions have one name.
    public init(of state: State.Type, actions: [any Action.Type], reducer: Reducer<State>) throws {
        registry = try ActionRegistry(actions)
        self.reducer = reducer
    }

    /// Replays a journal up to the first difference, or to its end. Blocks while it reads.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`, or with code `misfit` if the journal has no state of this build's
    ///   shape.
    public func run(_ journal: some JournalReading) throws -> JournalReplayReport {
        guard let oldest = try journal.snapshots().first else {
            throw JournalFailure(.damaged, "the journal has no snapshot: restore a backup")
        }
        var walk = try JournalWalk(from: journal.snapshot(oldest))
        let first = try firstEpoch(of: journal, oldest: walk.start)
        var run = walk.start.epoch >= first ? try ReplayRun(self, from: walk) : nil
        var report = JournalReplayReport(from: walk.place.revision)
        try journal.forEachRecord(after: walk.place.sequence) { record throws(JournalFailure) in
            // An incarnation of another shape begins with a change that has no actions, and leads to that shape.
            if run == nil, let batch = try? BatchRecord(decoding: record.body), batch.epoch >= first,
                !batch.runs.isEmpty
            {
                run = try ReplayRun(self, from: walk)
                report = JournalReplayReport(from: record.from)
            }
            let batch = try walk.advance(by: record)
            report.to = record.to
            report.difference = try run?.take(batch, recorded: walk)
            report.actions = run?.actions ?? 0
            return report.difference == nil
        }
        return report
    }

    /// From which incarnation of the primary on the state has this build's shape.
    private func firstEpoch(of journal: some JournalReading, oldest: SnapshotContext) throws -> Epoch {
        let fingerprint = Schema.fingerprint(of: State.self)
        let epochs = try journal.epochs()
        guard epochs.last?.fingerprint ?? oldest.fingerprint == fingerprint else {
            throw JournalFailure(
                .misfit,
                "the journal was recorded with a state of another shape than this build's: there is nothing to compare"
            )
        }
        guard let other = epochs.last(where: { $0.fingerprint != fingerprint }) else { return Epoch(0) }
        return other.epoch.next
    }
}

/// What a replay found.
public struct JournalReplayReport: Hashable, Sendable {
    /// The revision at which it began.
    public let from: Revision
    /// The last one that it came to.
    public internal(set) var to: Revision
    /// How many actions it reduced.
    public internal(set) var actions = 0
    /// Where the outcome differs from what was recorded; `nil` if it does so nowhere.
    public internal(set) var difference: Difference?

    /// Where the outcome is another one.
    public struct Difference: Hashable, Sendable {
        /// The first revision that may differ, and the last one of its batch: of a batch only the outcome of all its
        /// actions is recorded.
        public let revisions: ClosedRange<Revision>
        /// What differs, in words.
        public let reason: String
        /// From the recorded state to the replayed one: a JSON Patch (RFC 6902); `nil` if there is no replayed state.
        public let patch: Value?
    }

    init(from: Revision) { (self.from, to) = (from, from) }
}
