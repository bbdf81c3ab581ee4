/// The parameters of a store.
package struct StoreSettings: Hashable, Sendable {
    let limits: Limits
    /// The number of migrations that the state went through.
    let migrations: Int
    let actionsEndpoint: String
    /// The durability of acknowledged actions, as the primary's settings name it; `nil` without a journal: a batch is
    /// then published at once, and otherwise when the journal has stored it.
    let durability: String?
    let snapshots: SnapshotPolicy

    package init(
        limits: Limits,
        migrations: Int,
        actionsEndpoint: String,
        durability: String?,
        snapshots: SnapshotPolicy
    ) {
        self.limits = limits
        self.migrations = migrations
        self.actionsEndpoint = actionsEndpoint
        self.durability = durability
        self.snapshots = snapshots
    }

    var hasJournal: Bool { durability != nil }
    /// The declared version of the state.
    var stateVersion: UInt64 { UInt64(migrations) }
}

/// The bound of one turn.
///
/// A turn that changes many rows copies, compares and releases nearly all leaves of a table, so larger turns cost less
/// for each action, and let other stores of the node wait longer: with random rows of 100 bytes, 512 KiB give 1.1 times
/// the rate of 256 KiB, and the other stores 1.4 times their 99th percentile. They stay below the size of a frame, as a
/// patch that does not fit one has its turn reduced again in halves.
package struct TurnBudget: Hashable, Sendable {
    /// The maximum number of senders' actions, and of actions of the primary's own process.
    package var actions: Int
    /// The size of senders' actions after which a turn takes no further one, and the same for the actions that the
    /// primary's own process writes to the journal.
    package var bytes: Int

    package init(actions: Int = 8192, bytes: Int = 512 << 10) {
        self.actions = actions
        self.bytes = bytes
    }

    /// The budget of each store of a node.
    package static func ofNode(stores: Int) -> TurnBudget {
        stores > 1 ? TurnBudget(actions: 4096, bytes: 256 << 10) : TurnBudget()
    }
}
