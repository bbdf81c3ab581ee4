package import Logging
import StatecastCoding
package import StatecastJournal
package import StatecastProtocol

/// A checked definition of a store: errors that do not depend on a connection are found here.
package struct TypedStore<State: Codable & Equatable & Sendable>: StoreDefinition {
    package let name: StoreName
    let state: State
    let summary: Summary
    /// The declared version of the state: see `StateEvolution`.
    var stateVersion: UInt64 { UInt64(evolution.count) }
    let table: ActionTable
    package var actionNames: [String] { table.entries.map(\.name) }
    let reducer: Reducer<State>
    let middleware: [Middleware<State>]
    let initialEffect: @Sendable (State) -> Effect
    let journal: (any Journal)?
    let evolution: EvolutionPlan
    let logger: Logger
    /// The mailbox of the primary's own process.
    package let mailbox: LocalMailbox<State>

    /// - Throws: ``StatecastError`` with code `definition`: a name that is not well-formed, a state that cannot be
    ///   encoded (the field is named), two actions of one name, a name of an action of more than 256 bytes.
    package init(
        name: String,
        state: State,
        actions: [any Action.Type],
        reducer: Reducer<State>,
        middleware: [Middleware<State>],
        initialEffect: @escaping @Sendable (State) -> Effect,
        journal: (any Journal)?,
        evolution: StateEvolution,
        logger: Logger
    ) throws(StatecastError) {
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
        mailbox = LocalMailbox(state) { action in
            logger.warning(
                "dispatched to a primary that was stopped",
                metadata: ["store": "\(store)", "action": "\(type(of: action).name)"]
            )
        }
        table = try ActionTable(checking: actions)
    }

    package func recover(
        limits: Limits,
        time: Timestamp,
        lineage: Lineage,
        _ onProgress: @escaping RecoveryProgress
    ) throws(StatecastError) -> any StartableStore {
        if let journal {
            return try StoreRecovery(self, limits: limits, time: time, lineage: lineage, onProgress).run(journal)
        }
        let history = History(lineage: lineage, epoch: Epoch(1), summary: summary)
        return RecoveredStore(definition: self, state: state, history: history, journal: nil)
    }

    package func standby(limits: Limits) -> (any StandbyStore)? {
        (journal as? SharedJournal).map { WarmCopy(self, $0, limits: limits) }
    }

    package func end() { mailbox.close() }
}

/// A store with the state and history from which it continues.
package struct RecoveredStore<State: Codable & Equatable & Sendable>: StartableStore {
    let definition: TypedStore<State>
    package let state: State
    package let history: History
    /// `nil` for a store without a journal.
    let journal: (any Journal)?
    /// Counts the records after the newest snapshot.
    var snapshots = SnapshotSchedule()
    /// `nil` for a store without a journal.
    var report: RecoveryReport?

    package var name: StoreName { definition.name }

    package func serve(on node: NodeServices) -> any RunningStore { StoreShell(self, on: node) }

    package func abandon() { journal?.close() }

    /// The engine that continues the store.
    func engine(on node: NodeServices, suspects: [Suspect]) -> StoreEngine<State> {
        let (definition, policy) = (definition, node.journalPolicy)
        return StoreEngine(
            StoreProgram(
                definition.table,
                reducer: definition.reducer,
                middleware: definition.middleware,
                dispatcher: definition.mailbox
            ),
            StoreSettings(
                limits: node.limits,
                migrations: definition.evolution.count,
                actionsEndpoint: node.actionsEndpoint,
                durability: journal?.durability.rawValue,
                snapshots: SnapshotPolicy(bytes: policy.snapshotBytes, records: policy.snapshotRecords)
            ),
            history: history,
            state: state,
            snapshots: snapshots,
            suspects: suspects,
            now: node.environment.now
        )
    }
}

/// How a start recovered its state.
struct RecoveryReport: Sendable {
    /// The revision of the snapshot that was read; `nil` if a new history began.
    var snapshot: Revision?
    /// The number of records that were replayed on it.
    let records: Int
    var duration = Duration.zero
}

extension ActionTable {
    /// The table of a store's actions.
    ///
    /// - Throws: ``StatecastError`` with code `definition` if two actions have one name, or if a name is too long.
    convenience init(checking actions: [any Action.Type]) throws(StatecastError) {
        do { try self.init(actions) } catch {
            switch error {
            case .duplicate(let name):
                throw StatecastError(.definition, "two actions are named \"\(name)\": give one another static name")
            case .tooLong(let name):
                throw StatecastError(
                    .definition,
                    "the name of an action has at most \(Limits.maxActionNameBytes) bytes, "
                        + "\"\(name.prefix(40))...\" has \(name.utf8.count): give the type a shorter static name"
                )
            }
        }
    }
}
