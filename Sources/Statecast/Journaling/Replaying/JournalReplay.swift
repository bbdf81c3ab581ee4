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
/// It begins at the oldest snapshot, or after the last evolution of the state. It leaves out rejected actions, and runs no
/// effects.
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
    /// - Throws: ``JournalFailure`` with code `damaged`, or with code `misfit` if State does not hold all of the state that the
    ///   replay begins with.
    public func run(_ journal: some JournalReading) throws -> JournalReplayReport {
        guard let oldest = try journal.snapshots().first else {
            throw JournalFailure(.damaged, "the journal has no snapshot: restore a backup")
        }
        var walk = try JournalWalk(from: journal.snapshot(oldest))
        var run = Result { () throws(JournalFailure) in try ReplayRun(self, from: walk) }
        var report = JournalReplayReport(from: walk.place.revision)
        try journal.forEachRecord(after: walk.place.sequence) { record throws(JournalFailure) in
            let batch = try walk.advance(by: record)
            if batch.isEvolution {
                // Another build with another State wrote what came before.
                run = Result { () throws(JournalFailure) in try ReplayRun(self, from: walk) }
                report = JournalReplayReport(from: record.to)
            } else if report.difference == nil, case .success(var current) = run {
                report.to = record.to
                report.difference = current.difference(by: batch, recorded: walk)
                report.actions = current.actions
                run = .success(current)
            }
            return true
        }
        _ = try run.get()
        return report
    }
}

extension BatchRecord {
    /// Whether a start of the primary made the record, to bring the state into the shape of its build.
    fileprivate var isEvolution: Bool { runs.isEmpty && (to > from || migrations != nil) }
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
        /// The recorded state after these revisions.
        public let recorded: Value
        /// From the recorded state to the replayed one; `nil` if there is no replayed state.
        public let patch: Patch?
    }

    init(from: Revision) { (self.from, to) = (from, from) }
}
