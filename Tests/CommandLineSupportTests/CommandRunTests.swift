import Logging
import ServiceLifecycle
import Testing

@testable import CommandLineSupport

@Suite(.timeLimit(.minutes(10))) struct CommandRunTests {
    private struct Node: Service {
        let closed: AsyncStream<Void>

        func run() async throws {
            for await _ in closed {}
        }
    }

    private struct Unfinished: Error {}

    private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `work that closes its node during a shutdown reports its own failure`() async throws {
        let (closed, close) = AsyncStream.makeStream(of: Void.self)
        let (running, isRunning) = AsyncStream.makeStream(of: Void.self)
        let command = CommandService {
            try await CommandRun.until(
                done: {
                    isRunning.finish()
                    try? await gracefulShutdown()
                    close.finish()
                    // The service group now sees that the node ended, and cancels the work if it objects.
                    for _ in 0..<10_000 { await Task.yield() }
                    throw Unfinished()
                },
                beside: [Node(closed: closed)],
                logger: Self.quiet
            )
        }
        let group = ServiceGroup(services: [command], logger: Self.quiet)
        let run = Task { try await group.run() }
        for await _ in running {}
        await group.triggerGracefulShutdown()
        await #expect(throws: Unfinished.self) { try await run.value }
    }

    private struct CommandService: Service {
        let command: @Sendable () async throws -> Void

        func run() async throws { try await command() }
    }
}
