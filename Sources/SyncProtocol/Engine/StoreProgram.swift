package import StateCore

/// The functions of a store: they do not change while it is served.
package struct StoreProgram<State: Codable & Equatable & Sendable>: Sendable {
    let table: ActionTable
    let reducer: Reducer<State>
    let middleware: [Middleware<State>]
    /// The dispatcher that middlewares may keep. The engine passes it on and never calls it.
    let dispatcher: any ActionDispatcher

    package init(
        _ table: ActionTable,
        reducer: Reducer<State>,
        middleware: [Middleware<State>],
        dispatcher: any ActionDispatcher
    ) {
        self.table = table
        self.reducer = reducer
        self.middleware = middleware
        self.dispatcher = dispatcher
    }
}

/// The parameters of a store.
package struct StoreSettings: Hashable, Sendable {
    package var limits: Limits
    /// The number of migrations that the state went through.
    package var stateVersion: UInt64
    package var migrations: Int
    package var actionsEndpoint: String
    package var commitment: Commitment
    /// The durability of acknowledged actions, as the primary's settings name it; `nil` without a journal.
    package var durability: String?
    package var snapshots: SnapshotPolicy

    /// When a batch may be published.
    package enum Commitment: Hashable, Sendable {
        /// At once: the store has no journal.
        case none
        /// When the journal has stored it.
        case stored
        /// When the journal has accepted it.
        case accepted
    }

    package init(
        limits: Limits,
        stateVersion: UInt64,
        migrations: Int,
        actionsEndpoint: String,
        commitment: Commitment,
        durability: String?,
        snapshots: SnapshotPolicy
    ) {
        self.limits = limits
        self.stateVersion = stateVersion
        self.migrations = migrations
        self.actionsEndpoint = actionsEndpoint
        self.commitment = commitment
        self.durability = durability
        self.snapshots = snapshots
    }
}

/// Marks the action that is being reduced, so that one whose reduction ends the process is known at the next start.
package protocol ReductionMarking {
    /// Before an action of a sender is decoded.
    func begin(_ session: SessionID, _ number: ActionNumber)
    /// After its reduction.
    func end()
}

/// An action that may have crashed the process.
package struct Suspect: Hashable, Sendable {
    package let session: SessionID
    package let number: ActionNumber
    /// Whether it crashed the process so often that it must not be reduced again.
    package let isPoison: Bool

    package init(session: SessionID, number: ActionNumber, isPoison: Bool) {
        self.session = session
        self.number = number
        self.isPoison = isPoison
    }
}

/// The bound of one turn.
package struct TurnBudget: Hashable, Sendable {
    /// The most actions of senders, and of the primary's own process.
    package var actions: Int
    /// The size of senders' actions after which a turn takes no further one, and the same for the actions that the
    /// primary's own process writes to the journal.
    package var bytes: Int

    package init(actions: Int = 4096, bytes: Int = 256 << 10) {
        self.actions = actions
        self.bytes = bytes
    }
}
