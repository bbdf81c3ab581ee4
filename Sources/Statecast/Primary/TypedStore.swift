internal import Logging
internal import StateCoding
internal import SyncProtocol

/// A store's definition, checked: what can be known to be wrong before anybody connects is found here.
struct TypedStore<State: Codable & Equatable & Sendable>: StoreDefinition {
    let name: StoreName
    let state: State
    let summary: Summary
    /// The declared version of the state: see `StateEvolution`.
    var fingerprint: UInt64 { UInt64(evolution.count) }
    let registry: ActionRegistry
    let reducer: Reducer<State>
    let middleware: [Middleware<State>]
    let initialEffect: @Sendable (State) -> Effect
    let journal: (any Journal)?
    let evolution: EvolutionPlan
    let logger: Logger
    /// The way in for the primary's own process; the same from one start to the next.
    let entrance: LocalEntrance<State>

    /// - Throws: ``StatecastError`` with code `definition`: a name that is not well-formed, a state that cannot be
    ///   encoded (the field is named), two actions of one name.
    init(
        name: String,
        state: State,
        actions: [any Action.Type],
        reducer: Reducer<State>,
        middleware: [Middleware<State>],
        initialEffect: @escaping @Sendable (State) -> Effect,
        journal: (any Journal)?,
        evolution: StateEvolution,
        logger: Logger
    ) throws {
        let store = name
        do {
            self.name = try StoreName(name)
            try StateEncoder().checkValueSemantics(of: state)
            summary = try Summary(ofEncoded: try StateEncoder().encode(state))
            self.evolution = try EvolutionPlan(evolution, from: state)
        } catch {
            throw StatecastError(.definition, "the store \"\(name)\" cannot be served: \(error)", cause: error)
        }
        self.state = state
        self.reducer = reducer
        self.middleware = middleware
        self.initialEffect = initialEffect
        self.journal = journal
        self.logger = logger
        entrance = LocalEntrance(state) { action in
            let name = type(of: action).name
            logger.warning(
                "dispatched to a primary that was stopped",
                metadata: ["store": "\(store)", "action": "\(name)"]
            )
        }
        registry = try ActionRegistry(actions)
    }

    func recover(limits: Limits, time: Timestamp) throws(StatecastError) -> any HostableStore {
        if let journal { return try StoreRecovery(self, limits: limits, time: time).run(journal) }
        var generator = SystemRandomNumberGenerator()
        let history = History(lineage: Lineage(using: &generator), epoch: Epoch(1), summary: summary)
        return RecoveredStore(definition: self, state: state, history: history, journal: nil)
    }

    func end() { entrance.close() }
}
