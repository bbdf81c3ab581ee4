import Logging
import Statecast
import StatecastCoding
import StatecastCore
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
    /// `nil` without a journal.
    let disk: Disk?
    var build: Build
    private let world: World
    /// The texts of actions of the kinds ``WorkAction/Kind/large`` and ``WorkAction/Kind/tooLarge``: two of the first
    /// exceed an update, one of the second does.
    private let (large, tooLarge): (String, String)
    /// Submits an action of the current process, without its outcome.
    private(set) var dispatch: (WorkAction) -> Void = { _ in }
    /// Submits an action of the current process, and reports its outcome.
    private(set) var request: (WorkAction, @escaping @Sendable (Result<Receipt, Rejection>) -> Void) -> Void = { _, _ in
    }
    /// The actions of the current process that await their outcome.
    var openRequests: Set<WorkID> = []
    /// The number of actions of the primary's own processes.
    private(set) var ownCount: UInt32 = 0

    init(_ world: World, name: StoreName, disk: Disk?, build: Build, maxPatchBytes: Int) {
        (large, tooLarge) = (Self.text(maxPatchBytes * 6 / 10), Self.text(maxPatchBytes + 10))
        (self.world, self.name, self.disk, self.build) = (world, name, disk, build)
        history = StoreHistory(world, name, disk)
    }

    /// Many times faster than `String(repeating:count:)`.
    private static func text(_ count: Int) -> String {
        String(decoding: [UInt8](repeating: UInt8(ascii: "t"), count: count), as: UTF8.self)
    }

    func recover(
        in process: Process,
        limits: Limits,
        time: Timestamp,
        lineage: Lineage
    ) throws(StatecastError) -> any StartableStore {
        try recover(build.type, in: process, limits: limits, time: time, lineage: lineage)
    }

    private func recover<State: SimulatedState>(
        _: State.Type,
        in process: Process,
        limits: Limits,
        time: Timestamp,
        lineage: Lineage
    ) throws(StatecastError) -> any StartableStore {
        let world = world
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
            journal: disk.map { DiskJournal($0, history, in: process) },
            evolution: State.evolution,
            logger: .silent
        )
        let recovered = try definition.recover(limits: limits, time: time, lineage: lineage)
        guard let typed = recovered as? RecoveredStore<State>, let tree = try? StateEncoder().value(of: typed.state)
        else { preconditionFailure("a typed store recovers another type") }
        history.started(
            at: Position(lineage: typed.history.lineage, epoch: typed.history.epoch, revision: typed.history.head),
            state: tree
        )
        dispatch = { [mailbox = definition.mailbox] in mailbox.dispatch($0) }
        request = { [mailbox = definition.mailbox] in mailbox.enqueue(.action(.awaited($0, $1))) }
        return recovered
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
                    if process.isAlive { history.value.startedEffect(send.idempotencyKey) }
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

    func processEnded() {
        disk?.processEnded()
        (dispatch, request) = ({ _ in }, { _, _ in })
        openRequests = []
    }
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
