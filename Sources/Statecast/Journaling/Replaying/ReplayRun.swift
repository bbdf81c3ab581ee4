internal import Journal
internal import StateCoding
internal import SyncProtocol

/// A state that this build's reducer leads along what a journal recorded.
struct ReplayRun<State: Codable & Equatable & Sendable> {
    private let replay: JournalReplay<State>
    private var state: State
    private var summary: Summary
    /// How many actions were reduced.
    private(set) var actions = 0

    /// Begins where a journal stands.
    init(_ replay: JournalReplay<State>, from walk: JournalWalk) throws(JournalFailure) {
        self.replay = replay
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
    /// - Returns: how the outcome differs.
    mutating func difference(by batch: BatchRecord, recorded: JournalWalk) -> JournalReplayReport.Difference? {
        guard batch.to > batch.from else { return nil }
        let before = state
        if let difference = reduce(batch, recorded) { return difference }
        let revisions = batch.from.next...batch.to
        do throws(CodingFailure) {
            try summary.advance(by: Differ.patch(from: before, to: state))
            guard summary != recorded.summary else { return nil }
            let patch = Patch(from: recorded.tree, to: try StateEncoder().value(of: state))
            let reason = "the state is another one"
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
                    let action = try replay.registry.decode(entry.action)
                    _ = replay.reducer.reduce(into: &state, action, context: context)
                    actions += 1
                } catch {
                    let reason = "the action is no longer taken: \(error.code): \(error.message)"
                    return .init(revisions: revision...revision, reason: reason, recorded: recorded.tree, patch: nil)
                }
            }
        }
        return nil
    }
}
