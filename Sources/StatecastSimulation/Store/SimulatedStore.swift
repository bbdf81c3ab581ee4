import Logging
import Statecast
import StatecastCoding
import StatecastCore
import StatecastJournal
import StatecastProtocol
import StatecastThreading

/// A store of the simulation, across the processes that serve it.
final class SimulatedStore {
    /// The type of its state. `nextPlain` is the one to which `plain` is upgraded.
    enum Build {
        case plain, table, tree, nextPlain

        var type: any SimulatedState.Type {
            switch self {
            case .plain: PlainState.self
            case .table: TableState.self
            case .tree: TreeState.self
            case .nextPlain: NextPlainState.self
            }
        }
    }

    let name: StoreName
    let history: StoreHistory
    /// `nil` without a journal of its own.
    let disk: Disk?
    var build: Build
    private let world: World
    /// The texts of actions of the kinds ``WorkAction/Kind/large`` and ``WorkAction/Kind/tooLarge``: two of the first
    /// exceed an update, one of the second does.
    private let (large, tooLarge): (String, String)
    /// The number of actions of the primary's own processes.
    private(set) var ownCount: UInt32 = 0

    /// - Parameter journal: what the store's journal holds.
    init(
        _ world: World,
        name: StoreName,
        disk: Disk?,
        _ journal: (any JournalContent)?,
        build: Build,
        maxPatchBytes: Int
    ) {
        (large, tooLarge) = (Self.text(maxPatchBytes * 6 / 10), Self.text(maxPatchBytes + 10))
        (self.world, self.name, self.disk, self.build) = (world, name, disk, build)
        history = StoreHistory(world, name, journal)
    }

    /// Many times faster than `String(repeating:count:)`.
    private static func text(_ count: Int) -> String {
        String(decoding: [UInt8](repeating: UInt8(ascii: "t"), count: count), as: UTF8.self)
    }

    /// The store as a process defines it.
    ///
    /// - Parameter shared: its journal in a database; `nil`: that on its disk, if it has one.
    func define(in process: Process, _ shared: SharedJournal? = nil) throws(StatecastError) -> DefinedStore {
        try define(build.type, in: process, shared)
    }

    private func define<State: SimulatedState>(
        _: State.Type,
        in process: Process,
        _ shared: SharedJournal?
    ) throws(StatecastError) -> DefinedStore {
        let (world, history) = (world, Unchecked(history))
        let definition = try TypedStore(
            name: name.text,
            state: State(),
            actions: [WorkAction.self, GuardedAction.self],
            reducer: reducer(State.self, in: process),
            middleware: [
                Middleware { action, _, next in try next((action as? GuardedAction)?.work ?? action) },
                .policy { action, _ in
                    guard let action = action as? WorkAction, action.kind == .rejected else { return }
                    if process.isAlive { world.count(.actionsRejected) }
                    throw Rejection(.refused, "the policy rejects \(action.id)")
                },
            ],
            initialEffect: { _ in .none },
            journal: shared ?? disk.map { DiskJournal($0, history.value, in: process) },
            evolution: State.evolution,
            logger: .silent
        )
        return DefinedStore(
            definition: definition,
            dispatch: { [mailbox = definition.mailbox] in mailbox.dispatch($0) },
            request: { [mailbox = definition.mailbox] action, report in
                mailbox.enqueue(.action(.awaited(action, report)))
            },
            noteStart: { recovered in
                guard let typed = recovered as? RecoveredStore<State>,
                    let tree = try? StateEncoder().value(of: typed.state)
                else { preconditionFailure("a typed store recovers another type") }
                let (history, recovered) = (history.value, typed.history)
                history.started(
                    at: Position(lineage: recovered.lineage, epoch: recovered.epoch, revision: recovered.head),
                    state: tree,
                    by: process.name
                )
            }
        )
    }

    private func reducer<State: SimulatedState>(_: State.Type, in process: Process) -> Reducer<State> {
        let (history, large, tooLarge) = (Unchecked(history), large, tooLarge)
        return Reducer(of: WorkAction.self) { state, action -> Effect in
            // After a trap, what is left of a batch is reduced nevertheless.
            if process.isAlive {
                switch action.kind {
                case .trap:
                    process.world.count(.reducerTraps)
                    process.end()
                case .tooLarge: process.world.count(.changesTooLarge)
                case .random: process.world.count(.reducerRandom)
                default: break
                }
            }
            state.ledger.apply(action.id)
            let random = action.kind == .random ? process.world.random.next() : 0
            state.change(action.bits ^ random)
            switch action.kind {
            case .large: state.text = large
            case .tooLarge: state.text = tooLarge
            default: state.text = nil
            }
            var bits = SplitMix64(seed: action.bits)
            let next = WorkAction(
                id: WorkID(
                    sender: WorkID.firstEffectSender | UInt32(bits.next() >> 33),
                    serial: UInt32(bits.next() >> 32)
                ),
                kind: .change,
                bits: bits.next()
            )
            switch action.kind {
            case .effect: return .dispatch(next)
            case .work:
                return .run(id: "work") { send in
                    if process.isAlive { history.value.startedEffect(send.idempotencyKey, by: process.name) }
                    await send(next)
                }
            case .cancel: return .cancel(id: "work")
            default: return .none
            }
        }
    }

    /// An action of the primary's own process.
    func nextOwnID() -> WorkID {
        ownCount += 1
        return WorkID(sender: WorkID.ownSender, serial: ownCount)
    }

    /// The power of its disk fails.
    ///
    /// - Returns: whether something is lost.
    func cutPower() -> Bool {
        history.cutPower()
        return disk?.cutPower() ?? false
    }

    func ended(_ process: Process) {
        disk?.pages.processEnded()
        history.ended(process.name)
    }
}

/// A store as one process defines it.
///
/// Unchecked, but safe: see ``World``.
final class DefinedStore: @unchecked Sendable {
    let definition: any StoreDefinition
    /// Submits an action of the process, without its outcome.
    let dispatch: (WorkAction) -> Void
    /// Submits an action of the process, and reports its outcome.
    let request: (WorkAction, @escaping @Sendable (Result<Receipt, Rejection>) -> Void) -> Void
    /// The actions of the process that await their outcome.
    var openRequests: Set<WorkID> = []
    private let noteStart: (any StartableStore) -> Void

    fileprivate init(
        definition: any StoreDefinition,
        dispatch: @escaping (WorkAction) -> Void,
        request: @escaping (WorkAction, @escaping @Sendable (Result<Receipt, Rejection>) -> Void) -> Void,
        noteStart: @escaping (any StartableStore) -> Void
    ) {
        (self.definition, self.dispatch, self.request) = (definition, dispatch, request)
        self.noteStart = noteStart
    }

    func recover(limits: Limits, time: Timestamp, lineage: Lineage) throws(StatecastError) -> any StartableStore {
        let recovered = try definition.recover(limits: limits, time: time, lineage: lineage)
        noteStart(recovered)
        return recovered
    }

    /// The store on a node that shares its journal with others.
    func standby(limits: Limits) -> any StandbyStore {
        guard let standby = definition.standby(limits: limits) else { preconditionFailure("no shared journal") }
        return NotedStandby(standby, noteStart)
    }
}

/// A standby's store, whose recovery is checked.
///
/// Unchecked, but safe: see ``World``.
private final class NotedStandby: StandbyStore, @unchecked Sendable {
    private let store: any StandbyStore
    private let noteStart: (any StartableStore) -> Void

    init(_ store: any StandbyStore, _ noteStart: @escaping (any StartableStore) -> Void) {
        (self.store, self.noteStart) = (store, noteStart)
    }

    var name: StoreName { store.name }
    var database: any SharedDatabase { store.database }
    var head: JournalSequence { store.head }
    var epoch: Epoch { store.epoch }

    func follow(_ row: LeaderRow) throws(JournalFailure) -> LeaderMachine.Copy { try store.follow(row) }

    func recover(_ fence: Fence, isSynchronous: Bool, time: Timestamp) throws(StatecastError) -> any StartableStore {
        let recovered = try store.recover(fence, isSynchronous: isSynchronous, time: time)
        noteStart(recovered)
        return recovered
    }

    func close() { store.close() }
}

/// A value for closures that production code requires to be sendable.
///
/// Unchecked, but safe: a simulation runs in one thread, which alone uses the value.
struct Unchecked<Content>: @unchecked Sendable {
    let value: Content
    init(_ value: Content) { self.value = value }
}

extension Logger {
    static let silent = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })
}
