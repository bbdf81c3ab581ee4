import CounterApp
import FleetApp
import Logging
import Statecast
import StatecastJournal

/// The built-in apps.
enum ServedApp: String, CaseIterable {
    case fleet, counter

    /// The default name of the store.
    var storeName: String {
        switch self {
        case .fleet: Fleet.storeName
        case .counter: Counter.storeName
        }
    }

    /// Adds the app's store to a node.
    func serve(
        as name: String,
        on node: PrimaryNode,
        journal: (any Journal)?,
        logger: Logger
    ) throws -> ServedStore {
        switch self {
        case .fleet:
            let primary = try Primary(
                store: name,
                state: Fleet(),
                actions: Fleet.actions,
                journal: journal,
                on: node,
                logger: logger,
                reducer: Fleet.reducer
            )
            return ServedStore(name: name) { await primary.position }
        case .counter:
            let primary = try Primary(
                store: name,
                state: Counter(),
                actions: Counter.actions,
                journal: journal,
                on: node,
                logger: logger,
                reducer: Counter.reducer
            )
            return ServedStore(name: name) { await primary.position }
        }
    }
}

/// A store of any state.
struct ServedStore: Sendable {
    let name: String
    let position: @Sendable () async -> Position?

    /// The line that scripts wait for.
    func readyLine(at address: PrimaryAddress) async throws -> String {
        guard let position = await position() else { throw CancellationError() }
        return "ready store=\(name) epoch=\(position.epoch) revision=\(position.revision) "
            + "publish=\(address.publish) actions=\(address.actions)"
            + (address.receipts.map { " receipts=\($0)" } ?? "")
    }
}
