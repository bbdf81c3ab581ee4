internal import Journal

/// A store that knows where it goes on from, and does not serve anybody yet.
struct RecoveredStore<State: Codable & Equatable & Sendable>: HostableStore {
    let definition: TypedStore<State>
    let state: State
    let history: History
    /// `nil` for a store that forgets.
    let journal: (any Journal)?
    /// What lies in the journal behind its newest snapshot.
    var snapshots = SnapshotSchedule()

    var name: StoreName { definition.name }

    func host(in surroundings: StoreSurroundings) -> any HostedStore { StoreHost(self, in: surroundings) }

    func abandon() { journal?.close() }
}
