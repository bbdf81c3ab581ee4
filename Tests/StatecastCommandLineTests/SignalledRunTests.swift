import Logging
import ServiceLifecycle
import Statecast
import Testing

@testable import StatecastCommandLine

@Suite(.timeLimit(.minutes(10))) struct SignalledRunTests {
    @Test func `work that closes its node during a shutdown reports its own failure`() async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        try await expectFailure(beside: Node(closed: closed)) {
            close.finish()
            // The service group now sees that the node ended.
            for _ in 0..<100 { await Task.yield() }
        }
    }

    @Test func `work that is cancelled because its shutdown takes too long reports its own failure`() async throws {
        try await expectFailure(beside: Node(closed: Self.endless)) {
            // Ends with the cancellation.
            for await _ in Self.endless {}
            // The service group now sees that the node ended, too.
            for _ in 0..<100 { await Task.yield() }
        }
    }

    @Test func `the failure of a node is reported, not that of the work which it ends`() async throws {
        await #expect(throws: NodeFailed.self) {
            try await SignalledRun.until(
                done: {
                    try? await gracefulShutdown()
                    throw Unfinished()
                },
                beside: [Command { throw NodeFailed() }],
                logger: Self.quiet
            )
        }
    }

    /// Runs work that fails after it was asked to stop.
    private func expectFailure(beside node: Node, _ stopping: @escaping @Sendable () async -> Void) async throws {
        let (running, isRunning) = AsyncStream.makeStream(of: Void.self)
        let command = Command {
            try await SignalledRun.until(
                done: {
                    isRunning.finish()
                    try? await gracefulShutdown()
                    await stopping()
                    throw Unfinished()
                },
                beside: [node],
                logger: Self.quiet
            )
        }
        let group = ServiceGroup(services: [command], logger: Self.quiet)
        let run = Task { try await group.run() }
        for await _ in running {}
        await group.triggerGracefulShutdown()
        await #expect(throws: Unfinished.self) { try await run.value }
    }

    private struct Node: Service {
        let closed: AsyncStream<Void>

        func run() async throws {
            for await _ in closed {}
        }
    }

    private struct Command: Service {
        let command: @Sendable () async throws -> Void

        func run() async throws { try await command() }
    }

    private struct Unfinished: Error {}
    private struct NodeFailed: Error {}

    /// Ends only for a task that is cancelled.
    private static var endless: AsyncStream<Void> { AsyncStream { _ in } }

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
