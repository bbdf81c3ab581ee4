public import StatecastCoding
import StatecastJournal
public import StatecastProtocol

/// Runs the actions of a journal through this build's reducer, and reports where the resulting state differs from the
/// recorded one: shows whether a reducer is deterministic, and whether a new build behaves like the old one.
///
/// ```swift
/// let replay = try JournalReplay(of: Fleet.self, actions: Fleet.actions, reducer: Fleet.reducer)
/// let report = try replay.run(JournalReader(at: "backup"))
/// #expect(report.difference == nil)
/// ```
///
/// The replay begins at the oldest snapshot, or after the last evolution of the state. It skips rejected actions, and
/// runs no effects.
public struct JournalReplay<State: Codable & Equatable & Sendable>: Sendable {
    fileprivate let table: ActionTable
    fileprivate let reducer: Reducer<State>

    /// Creates a replay with this build's types.
    ///
    /// - Throws: ``StatecastError`` with code `definition` if two actions have one name, or if a name is too long.
    public init(of state: State.Type, actions: [any Action.Type], reducer: Reducer<State>) throws {
        table = try ActionTable(checking: actions)
        self.reducer = reducer
    }

    /// Replays a journal up to the first difference, or to its end. Blocks while it reads.
    ///
    /// - Throws: ``JournalFailure`` with code `damaged`, or with code `misfit` if `State` does not hold all of the
    ///   state that the replay begins with.
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
                // A build with another State wrote the records before this one.
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
    /// Whether a start of the primary made the record, to convert the state to that of its build.
    fileprivate var isEvolution: Bool { runs.isEmpty && (to > from || migrations != nil) }
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
        /// The first revision that may differ, and the last one of its batch: a batch records only the state after all
        /// of its actions.
        public let revisions: ClosedRange<Revision>
        /// A description.
        public let reason: String
        /// The recorded state after these revisions.
        public let recorded: Value
        /// From the recorded state to the replayed one; `nil` if there is no replayed state.
        public let patch: Patch?
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

    /// Reduces the actions of a batch.
    ///
    /// - Parameter recorded: the journal after the batch.
    /// - Returns: the difference, if there is one.
    mutating func difference(by batch: BatchRecord, recorded: JournalWalk) -> JournalReplayReport.Difference? {
        guard batch.to > batch.from else { return nil }
        let before = state
        if let difference = reduce(batch, recorded) { return difference }
        let revisions = batch.from.next...batch.to
        do throws(CodingFailure) {
            try summary.advance(by: Differ.patch(from: before, to: state))
            guard summary != recorded.summary else { return nil }
            let patch = Patch(from: recorded.tree, to: try StateEncoder().value(of: state))
            let reason = "the state differs"
            return .init(revisions: revisions, reason: reason, recorded: recorded.tree, patch: patch)
        } catch {
            let reason = "the state cannot be encoded: \(error)"
            return .init(revisions: revisions, reason: reason, recorded: recorded.tree, patch: nil)
        }
    }

    private mutating func reduce(
        _ batch: BatchRecord,
        _ recorded: JournalWalk
    ) -> JournalReplayReport.Difference? {
        var revision = batch.from
        for run in batch.runs {
            let session = run.session == .primary ? nil : run.session.description
            let context = ActionContext(time: run.time, session: session, user: run.user)
            for entry in run.entries where entry.rejection == nil {
                revision = revision.next
                do throws(Rejection) {
                    let action = try definition.table.decode(entry.action)
                    _ = definition.reducer.reduce(into: &state, action, context: context)
                    actions += 1
                } catch {
                    let reason = "the action is no longer accepted: \(error.code): \(error.message)"
                    return .init(revisions: revision...revision, reason: reason, recorded: recorded.tree, patch: nil)
                }
            }
        }
        return nil
    }
}
