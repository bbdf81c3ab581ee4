internal import Journal

/// A store that knows where it goes on from, and does not serve anybody yet.
struct RecoveredStore<State: Codable & Equatable & Sendable>: HostableStore {
    let definition: TypedStore<State>
    let state: State
    let history: History
    /// `nil` for a store that forgets.
    let journal: (any Journal)?
    /// Whether the journal's newest snapshot has the state in another shape, which takes longer to read.
    var wantsSnapshot = false

    var name: StoreName { definition.name }

    func host(in surroundings: StoreSurroundings) -> any HostedStore { StoreHost(self, in: surroundings) }

    func abandon() { journal?.close() }
}
