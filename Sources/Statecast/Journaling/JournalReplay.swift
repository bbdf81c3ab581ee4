internal import Journal

/// Runs the actions of a journal through this build's reducer, and reports where the resulting state differs from the recorded
/// one: shows whether a reducer is deterministic, and whether a new build behaves like the old one.
///
/// ```swift
/// let replay = try JournalReplay(of: Fleet.self, actions: Fleet.actions, reducer: Fleet.reducer)
/// let report = try replay.run(JournalReader(at: "backup"))
/// #expect(report.difference == nil)
/// ```
///
/// The replay begins at the oldest snapshot, or after the last change of the state's shape. It skips rejected actions, uses
/// the recorded results of migrations, and runs no effects.
public struct JournalReplay<State: Codable & Equatable & Sendable>: Sendable {
    fileprivate let registry: ActionRegistry
    fileprivate let reducer: Reducer<State>

    /// Creates a replay with this build's types.
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
            // The first record of an incarnation with another shape has no actions, and converts the state to that shape.
            if run == nil, let batch = try? BatchRecord(decoding: record.body), batch.epoch >= first,
                !batch.runs.isEmpty
            {
                run = try ReplayRun(self, from: walk)
                report = JournalReplayReport(from: record.from)
            }
            let batch = try walk.advance(by: record)
            report.to = record.to
            report.difference = try run?.replay(batch, recorded: walk)
            report.actions = run?.actions ?? 0
            return report.difference == nil
        }
        return report
    }

    /// The first incarnation of the primary after which the state always has this build's shape.
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

/// The result of a replay.
public struct JournalReplayReport: Hashable, Sendable {
    /// The first revision.
    public let from: Revision
    /// The last revision.
    public fileprivate(set) var to: Revision
    /// The number of reduced actions.
    public fileprivate(set) var actions = 0
    /// The first difference from the recorded states; `nil` if there is none.
    public fileprivate(set) var difference: Difference?

    /// A difference from a recorded state.
    public struct Difference: Hashable, Sendable {
        /// The first revision that may differ, and the last one of its batch: a batch records only the state after all of its
        /// actions.
        public let revisions: ClosedRange<Revision>
        /// A description.
        public let reason: String
        /// From the recorded state to the replayed one: a JSON Patch (RFC 6902); `nil` if there is no replayed state.
        public let patch: Value?
    }

    fileprivate init(from: Revision) { (self.from, to) = (from, from) }
}

/// A state that this build's reducer advances along the records of a journal.
private struct ReplayRun<State: Codable & Equatable & Sendable> {
    private let definition: JournalReplay<State>
    private var state: State
    private var summary: Summary
    /// The number of reduced actions.
    private(set) var actions = 0

    /// Begins at the state of a walk.
    init(_ definition: JournalReplay<State>, from walk: JournalWalk) throws(JournalFailure) {
        self.definition = definition
        do {
            state = try StateDecoder().decode(State.self, from: walk.tree)
            summary = try Summary(ofEncoded: StateEncoder().encode(state))
        } catch { throw Self.misfit(walk, "\(error)") }
        guard summary == walk.summary else { throw Self.misfit(walk, "read as that, it encodes to something else") }
    }

    private static func misfit(_ walk: JournalWalk, _ reason: String) -> JournalFailure {
        JournalFailure(.misfit, "revision \(walk.place.revision) is no state of this build: \(reason)")
    }

    /// Replays a batch.
    ///
    /// - Parameter recorded: the recorded state after the batch.
    /// - Returns: the difference, if there is one.
    mutating func replay(
        _ batch: BatchRecord,
        recorded: JournalWalk
    ) throws(JournalFailure) -> JournalReplayReport.Difference? {
        guard batch.to > batch.from else { return nil }
        guard !batch.runs.isEmpty else {
            // No reducer made this change.
            self = try ReplayRun(definition, from: recorded, actions: actions)
            return nil
        }
        let before = state
        if let difference = reduce(batch) { return difference }
        let revisions = batch.from.next...batch.to
        do throws(CodingFailure) {
            try summary.advance(by: Differ.patch(from: before, to: state))
            guard summary != recorded.summary else { return nil }
            let patch = Patch(from: recorded.tree, to: try StateEncoder().value(of: state))
            return .init(
                revisions: revisions,
                reason: "the state differs",
                patch: try patch.jsonPatch(from: recorded.tree)
            )
        } catch {
            return .init(revisions: revisions, reason: "the state cannot be encoded: \(error)", patch: nil)
        }
    }

    private init(_ definition: JournalReplay<State>, from walk: JournalWalk, actions: Int) throws(JournalFailure) {
        try self.init(definition, from: walk)
        self.actions = actions
    }

    private mutating func reduce(_ batch: BatchRecord) -> JournalReplayReport.Difference? {
        var revision = batch.from
        for run in batch.runs {
            let session = run.session == .primary ? nil : run.session.description
            let context = ActionContext(time: run.time, session: session, user: run.user)
            for entry in run.entries where entry.rejection == nil {
                revision = revision.next
                do throws(Rejection) {
                    let action = try definition.registry.decode(entry.action)
                    _ = definition.reducer.reduce(into: &state, action, context: context)
                    actions += 1
                } catch {
                    let reason = "the action is no longer accepted: \(error.code): \(error.message)"
                    return .init(revisions: revision...revision, reason: reason, patch: nil)
                }
            }
        }
        return nil
    }
}
