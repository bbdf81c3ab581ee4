import CounterApp
import Foundation
import Logging
import Statecast
import StatecastProtocol
import Testing

/// Free ports on this machine.
extension PrimaryConfiguration {
    static var anyPorts: PrimaryConfiguration {
        PrimaryConfiguration(publish: "tcp://127.0.0.1:*", actions: "tcp://127.0.0.1:*")
    }

    /// On free ports, with quick limits.
    static var quick: PrimaryConfiguration {
        var configuration = anyPorts
        configuration.limits = .quick
        return configuration
    }
}

extension Limits {
    /// Short heartbeats and retries, so that recovery needs tens of milliseconds instead of seconds.
    static var quick: Limits {
        var limits = Limits()
        limits.heartbeatInterval = .milliseconds(20)
        limits.minRetryDelay = .milliseconds(50)
        limits.maxRetryDelay = .milliseconds(200)
        limits.maxGapJitter = .milliseconds(5)
        return limits
    }
}

extension Primary<Counter> {
    /// A primary of the counter app, by default with quick limits and on free ports.
    static func counter(
        _ configuration: PrimaryConfiguration = .quick,
        store: String = Counter.storeName,
        middleware: [Middleware<Counter>] = [],
        journal: (any Journal)? = nil,
        log: EventLog = EventLog()
    ) throws(StatecastError) -> Primary<Counter> {
        try Primary(
            store: store,
            state: Counter(),
            actions: Counter.actions,
            middleware: middleware,
            journal: journal,
            configuration: configuration,
            logger: LogBook.logger(log),
            reducer: Counter.reducer
        )
    }

    /// One of several stores of a node.
    static func counter(
        on node: PrimaryNode,
        store: String = Counter.storeName,
        middleware: [Middleware<Counter>] = [],
        journal: (any Journal)? = nil,
        logger: Logger = LogBook.logger(EventLog())
    ) throws(StatecastError) -> Primary<Counter> {
        try Primary(
            store: store,
            state: Counter(),
            actions: Counter.actions,
            middleware: middleware,
            journal: journal,
            on: node,
            logger: logger,
            reducer: Counter.reducer
        )
    }
}

/// A primary of the counter app, bound to free ports.
struct CounterPrimary {
    let primary: Primary<Counter>
    let address: PrimaryAddress

    static func start(_ configure: (inout PrimaryConfiguration) -> Void = { _ in }) async throws -> CounterPrimary {
        var configuration = PrimaryConfiguration.quick
        configure(&configuration)
        let primary = try Primary.counter(configuration)
        return CounterPrimary(primary: primary, address: try await primary.start())
    }

    /// Starts another primary at the same endpoints, as after a crash. libzmq releases an endpoint with a delay, so
    /// this retries until it is free.
    func restart() async throws -> CounterPrimary {
        await primary.stop()
        while true {
            do {
                return try await .start { configuration in
                    configuration.publish = address.publish
                    configuration.actions = address.actions
                }
            } catch let error as StatecastError where error.code == .endpoint {
                await Task.yield()
            }
        }
    }

    func replica() throws -> Replica<Counter> {
        try Replica<Counter>(store: Counter.storeName, from: address.publish, configuration: .quick).started()
    }

    func sender() throws -> ActionSender {
        try ActionSender(store: Counter.storeName, from: address.publish, configuration: .quick).started()
    }
}

/// Runs the body beside a primary of the counter app.
func withCounter(
    _ configure: (inout PrimaryConfiguration) -> Void = { _ in },
    _ body: (CounterPrimary) async throws -> Void
) async throws {
    let cluster = try await CounterPrimary.start(configure)
    try await body(cluster)
    await cluster.primary.stop()
}

extension ReplicaConfiguration {
    static var quick: ReplicaConfiguration {
        var configuration = ReplicaConfiguration()
        configuration.limits = .quick
        return configuration
    }
}

extension SenderConfiguration {
    static var quick: SenderConfiguration {
        var configuration = SenderConfiguration()
        configuration.limits = .quick
        return configuration
    }
}

extension Replica {
    /// Waits for the first state that meets a condition.
    func first(where condition: (StateSnapshot<State>) -> Bool) async throws -> StateSnapshot<State> {
        for await snapshot in snapshots where condition(snapshot) { return snapshot }
        throw StatecastError(.closed, "the replica ended before the state came")
    }

    /// Waits for a status.
    func waits(for condition: (ReplicaStatus) -> Bool) async {
        for await status in statuses where condition(status) { return }
    }
}

extension ActionSender {
    /// Sends an action until its outcome is known: the primary may be restarting.
    func sendKnown(_ action: some Action) async throws -> Receipt {
        while true {
            do { return try await send(action) } catch let rejection as Rejection
                where rejection.code == .outcomeUnknown
            {
                continue
            }
        }
    }
}

extension Primary {
    /// Starts at ports that another primary has just closed: libzmq releases them with a delay.
    func startOnceItsPortsAreFree() async throws {
        while true {
            do throws(StatecastError) {
                try await start()
                return
            } catch {
                guard error.code == .endpoint else { throw error }
                await Task.yield()
            }
        }
    }

    /// Sends until the primary has noticed that there is room.
    @discardableResult
    func sendOnceThereIsRoom(_ action: any Action) async throws -> Receipt {
        while true {
            do throws(Rejection) { return try await send(action) } catch {
                guard error.code == .storageFull else { throw error }
                await Task.yield()
            }
        }
    }
}

/// A folder for one test. It is removed with this object.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "statecast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
