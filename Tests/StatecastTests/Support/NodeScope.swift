import Statecast
import Synchronization
import Testing

/// Stops the replicas and senders that a test starts with `started()` when the test ends.
struct NodeScope: SuiteTrait, TestTrait, TestScoping {
    fileprivate final class Nodes: Sendable {
        private let tasks = Mutex<[Task<Void, any Error>]>([])

        func insert(_ task: Task<Void, any Error>) { tasks.withLock { $0.append(task) } }

        func stop() async {
            let tasks = tasks.withLock { $0 }
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        }
    }

    @TaskLocal fileprivate static var nodes: Nodes?

    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        let nodes = Nodes()
        let result: Result<Void, any Error>
        do { result = .success(try await Self.$nodes.withValue(nodes, operation: function)) } catch {
            result = .failure(error)
        }
        await nodes.stop()
        try result.get()
    }

    /// In the body of an exit test there is no scope: the end of its process ends the node.
    fileprivate static func start(_ run: @escaping @Sendable () async throws -> Void) {
        let task = Task { try await run() }
        nodes?.insert(task)
    }
}

extension Trait where Self == NodeScope {
    /// Stops the replicas and senders that a test starts with `started()` when the test ends.
    static var stopsNodes: Self { NodeScope() }
}

extension Replica {
    /// Runs the replica until the test ends; its suite needs the trait `stopsNodes`.
    func started() -> Self {
        NodeScope.start { try await self.run() }
        return self
    }
}

extension ActionSender {
    /// Runs the sender until the test ends; its suite needs the trait `stopsNodes`.
    func started() -> Self {
        NodeScope.start { try await self.run() }
        return self
    }
}
