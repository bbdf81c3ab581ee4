import CounterApp
import FleetApp
import Logging
import Statecast

/// The apps that this executable can serve.
enum ServedApp: String, CaseIterable {
    case fleet, counter

    /// Adds the app's store to a node.
    func serve(as name: String?, on node: PrimaryNode, logger: Logger) throws -> ServedStore {
        switch self {
        case .fleet:
            let name = name ?? Fleet.storeName
            let primary = try Primary(
                store: name,
                state: Fleet(),
                actions: Fleet.actions,
                on: node,
                logger: logger,
                reducer: Fleet.reducer
            )
            return ServedStore(name: name) { await primary.position }
        case .counter:
            let name = name ?? Counter.storeName
            let primary = try Primary(
                store: name,
                state: Counter(),
                actions: Counter.actions,
                on: node,
                logger: logger,
                reducer: Counter.reducer
            )
            return ServedStore(name: name) { await primary.position }
        }
    }
}

/// A store without its types.
struct ServedStore: Sendable {
    let name: String
    let position: @Sendable () async -> Position?

    /// What scripts wait for.
    func readyLine(at address: PrimaryAddress) async throws -> String {
        guard let position = await position() else { throw CancellationError() }
        return "ready store=\(name) epoch=\(position.epoch) revision=\(position.revision) "
            + "publish=\(address.publish) actions=\(address.actions)"
    }
}
