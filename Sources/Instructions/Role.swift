import ArgumentParser
import StatecastCore

/// A part of the path of an action.
enum Role: String, CaseIterable, ExpressibleByArgument {
    /// Encodes actions, sends them in frames, and takes their receipts.
    case sender
    /// The same with one action in each frame: the costs of a frame.
    case senderSingle = "sender-single"
    /// Receives frames of actions, reduces them, and publishes updates and receipts, without a journal.
    case primary
    /// The same with one action in each frame: the costs of a turn.
    case primarySingle = "primary-single"
    /// A primary with a journal, without the journal itself.
    case primaryJournal = "primary-journal"
    /// Receives an update for each action, and applies it.
    case replica
    /// A primary whose actions each replace a row of a large table.
    case tablePrimary = "table-primary"
    /// A replica of the same store. Its updates contain the rows of a frame.
    case tableReplica = "table-replica"
    /// Encodes the actions of random rows, as the others of these roles: section 1b of the benchmark.
    case cellsSender = "cells-sender"
    /// Reduces them, and publishes updates that change nearly every leaf of the table.
    case cellsPrimary = "cells-primary"
    /// Applies these updates.
    case cellsReplica = "cells-replica"
    /// Writes records into SQLite, each in a transaction.
    case journal
    /// Dispatches actions to a core with one observer.
    case core

    /// The number of actions that travel together.
    var actionsPerFrame: Int {
        switch self {
        case .senderSingle, .primarySingle, .replica, .journal: 1
        case .sender, .primary, .primaryJournal, .tablePrimary, .tableReplica, .core, .cellsSender, .cellsPrimary,
            .cellsReplica:
            1000
        }
    }

    /// The number of frames before the first counted one: types are instantiated, and buffers have grown.
    private static let framesBefore = 4

    func run(_ count: Int) throws {
        let frames = (count: count / actionsPerFrame, before: Self.framesBefore)
        switch self {
        case .sender, .senderSingle: try exchange(frames, of: MarkLoad.self, counting: .sender)
        case .primary, .primarySingle: try exchange(frames, of: MarkLoad.self, counting: .primary)
        case .primaryJournal: try exchange(frames, of: MarkLoad.self, counting: .primary, hasJournal: true)
        case .replica: try exchange(frames, of: MarkLoad.self, counting: .replica)
        case .tablePrimary: try exchange(frames, of: RowLoad.self, counting: .primary)
        case .tableReplica: try exchange(frames, of: RowLoad.self, counting: .replica)
        case .cellsSender: try exchange(frames, of: CellLoad.self, counting: .sender)
        case .cellsPrimary: try exchange(frames, of: CellLoad.self, counting: .primary)
        case .cellsReplica: try exchange(frames, of: CellLoad.self, counting: .replica)
        case .journal: try append(frames)
        case .core: try dispatch(frames)
        }
    }

    private func exchange<Workload: Load>(
        _ frames: (count: Int, before: Int),
        of load: Workload.Type,
        counting node: Cluster<Workload>.Node,
        hasJournal: Bool = false
    ) throws {
        var cluster = try Cluster(load, hasJournal: hasJournal)
        for frame in 0..<(frames.before + frames.count) {
            let numbers = (frame * actionsPerFrame)..<((frame + 1) * actionsPerFrame)
            try cluster.send(numbers.map(Workload.action), counting: frame < frames.before ? nil : node)
        }
        cluster.checkAllArrived()
    }

    private func append(_ frames: (count: Int, before: Int)) throws {
        var journal = try JournalAppending()
        for frame in 0..<(frames.before + frames.count) { try journal.append(isCounted: frame >= frames.before) }
        try journal.close()
    }

    private func dispatch(_ frames: (count: Int, before: Int)) throws {
        let core = Core(MarkLoad.state, reducer: MarkLoad.reducer, now: { MemoryPrimary<Marks>.time })
        let subscription = core.observe { _ in }
        for frame in 0..<(frames.before + frames.count) {
            let actions = (0..<actionsPerFrame).map(MarkLoad.action)
            try collect(frame >= frames.before) { for action in actions { core.dispatch(action) } }
        }
        subscription.cancel()
        precondition(core.state.count == (frames.before + frames.count) * actionsPerFrame, "actions are missing")
    }
}
