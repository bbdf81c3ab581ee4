import StateCoding
import Statecast
import SyncProtocol

/// What one store has published, as an observer sees it that misses nothing; and what its actions became.
final class Oracle {
    private let world: World
    private let store: StoreName
    private let durability: Durability?

    /// One lineage's history.
    private struct History {
        /// The digests of the published states.
        var digests: [Revision: UInt64] = [:]
        /// The actions that made the revisions, as far as they are known.
        var applied: [Revision: WorkID] = [:]
        /// The starts of the incarnations.
        var starts: [Epoch: Revision] = [:]
        var head = Revision(0)
    }

    private var histories: [Lineage: History] = [:]
    /// Of the current incarnation.
    private(set) var position: Position?
    private var tree = Value.null
    private var summary = Summary(digest: 0, bytes: 0)
    private var appliedCount = 0
    /// The revision that each applied action made, in which lineage. One of another sender than this process can be
    /// applied again only if it was lost with its record.
    private var applications: [WorkID: Position] = [:]
    /// The work and effects that were started in this incarnation.
    private var effectKeys: Set<String> = []
    /// Whether the last end of a process may have lost what was published.
    var mayHaveLost = false

    init(_ world: World, _ store: StoreName, _ durability: Durability?) {
        (self.world, self.store, self.durability) = (world, store, durability)
    }

    /// The published state.
    var digest: UInt64 { summary.digest }

    // MARK: The primary

    /// An incarnation begins.
    func started(at position: Position, state: Value) {
        (tree, summary) = (state, Summary(of: state))
        let ledger = Ledger(in: tree)
        var history = histories[position.lineage] ?? History()
        let last = histories[position.lineage]?.head
        appliedCount = last == nil ? 0 : min(appliedCount, ledger?.count ?? 0)
        if let last {
            if position.revision < last {
                world.require(
                    mayHaveLost,
                    .recoveredWasPublished,
                    "the store \(store) was published up to \(last), and starts again at \(position)"
                )
                forget(after: position.revision, in: position.lineage, &history)
            }
            if let digest = history.digests[position.revision] {
                world.require(
                    digest == summary.digest,
                    .recoveredWasPublished,
                    "the store \(store) starts at \(position) with another state than the published one"
                )
            }
        }
        history.starts[position.epoch] = position.revision
        history.digests[position.revision] = summary.digest
        history.head = position.revision
        histories[position.lineage] = history
        self.position = position
        effectKeys = []
        mayHaveLost = durability == nil || durability == .relaxed
        // Actions that were durable and not published yet.
        noteApplied(ledger, after: min(last ?? Revision(0), position.revision), in: position.lineage)
    }

    private func forget(after revision: Revision, in lineage: Lineage, _ history: inout History) {
        history.digests = history.digests.filter { $0.key <= revision }
        history.applied = history.applied.filter { $0.key <= revision }
        applications = applications.filter { $0.value.lineage != lineage || $0.value.revision <= revision }
    }

    /// A frame was published to all followers.
    func published(_ update: Update) {
        guard let position else { return }
        let next = Position(lineage: update.lineage, epoch: update.epoch, revision: update.to)
        world.require(
            update.lineage == position.lineage && update.epoch == position.epoch && update.from == position.revision,
            .shownWasPublished,
            "the store \(store) published an update from \(update.from) to \(next) after \(position)"
        )
        do {
            try Patch(decoding: update.patch).apply(to: &tree, summary: &summary)
        } catch {
            return world.violated(.shownWasPublished, "the update to \(next) cannot be applied: \(error)")
        }
        self.position = next
        histories[next.lineage]?.digests[next.revision] = summary.digest
        histories[next.lineage]?.head = next.revision
        noteApplied(Ledger(in: tree), after: position.revision, in: next.lineage)
    }

    private func noteApplied(_ ledger: Ledger?, after revision: Revision, in lineage: Lineage) {
        guard let ledger else { return world.violated(.shownWasPublished, "the state after \(revision) has no ledger") }
        if let fault = ledger.fault { world.violated(.appliedOnce, "the store \(store) applied \(fault)") }
        let first = appliedCount
        for (index, id) in ledger.actions(from: first) {
            let made = revision.advanced(by: index - first + 1)
            histories[lineage]?.applied[made] = id
            let position = Position(lineage: lineage, epoch: self.position?.epoch ?? Epoch(0), revision: made)
            if let before = applications.updateValue(position, forKey: id),
                before.lineage != lineage || before.revision != made
            {
                world.violated(.appliedOnce, "the store \(store) applied \(id) at \(before) and at \(position)")
            }
        }
        appliedCount = ledger.count
    }

    /// An effect was started.
    func startedEffect(_ key: String) {
        world.require(
            effectKeys.insert(key).inserted,
            .effectsStartOnce,
            "the store \(store) started the effect \(key) twice"
        )
    }

    // MARK: Replicas and senders

    /// A replica shows a state.
    func shown(_ position: Position, digest: UInt64, by replica: String) {
        guard let history = histories[position.lineage] else {
            return world.violated(.shownWasPublished, "\(replica) shows \(position) of an unknown history")
        }
        guard let published = history.digests[position.revision] else {
            // It may have been lost since.
            let isLost = position.epoch < (self.position?.epoch ?? position.epoch)
            return world.require(
                isLost,
                .shownWasPublished,
                "\(replica) shows \(position), which was never published"
            )
        }
        let wasReused = history.starts.contains { $0.key > position.epoch && $0.value < position.revision }
        world.require(
            published == digest || wasReused,
            .shownWasPublished,
            "\(replica) shows another state than was published at \(position)"
        )
    }

    /// A sender was told that its action is applied.
    func confirmed(_ id: WorkID, at position: Position, to sender: String) {
        guard let history = histories[position.lineage] else {
            return world.violated(.receiptsHold, "\(sender) was told that \(id) is applied at \(position)")
        }
        guard let applied = history.applied[position.revision] else { return }
        let wasReused = history.starts.contains { $0.key > position.epoch && $0.value < position.revision }
        world.require(
            applied == id || wasReused,
            .receiptsHold,
            "\(sender) was told that \(id) is applied at \(position), where \(applied) is"
        )
    }

    /// A sender was told that its action is rejected.
    func rejected(_ id: WorkID, _ reason: String, to sender: String) {
        if let position = applications[id] {
            world.violated(.rejectedLeaveNoTrace, "\(sender) was told \(reason) of \(id), applied at \(position)")
        }
    }

    func isApplied(_ id: WorkID) -> Bool { applications[id] != nil }
}
