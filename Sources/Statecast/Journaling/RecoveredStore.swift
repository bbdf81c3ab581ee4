internal import Journal
internal import SyncProtocol

/// A store that knows where it goes on from, and does not serve anybody yet.
struct RecoveredStore<State: Codable & Equatable & Sendable>: HostableStore {
    let definition: TypedStore<State>
    let state: State
    let history: History
    /// `nil` for a store that forgets.
    let journal: (any Journal)?
    /// What lies in the journal behind its newest snapshot.
    var snapshots = SnapshotSchedule()
    /// How the journal was recovered; `nil` for a store that forgets.
    var report: RecoveryReport?

    var name: StoreName { definition.name }

    func host(in surroundings: StoreSurroundings) -> any HostedStore { StoreHost(self, in: surroundings) }

    func abandon() { journal?.close() }
}

/// How a start came to its state.
struct RecoveryReport: Sendable {
    /// The revision of the snapshot that was read; `nil` if a history was begun.
    var snapshot: Revision?
    /// How many records were replayed on it.
    let records: Int
    var duration = Duration.zero
}
