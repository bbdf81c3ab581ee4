package import Logging
package import ServiceLifecycle
internal import Threading
internal import UnixSignals

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// A part of a program's run: its work, or a node that the work needs.
package struct SignalledRun: Service {
    /// The first failure of all parts. A service group that shuts down may report the end of another part instead, and
    /// reports nothing after the time limit.
    private let failure: Locked<(any Error)?>
    private let part: @Sendable () async throws -> Void

    private init(_ failure: Locked<(any Error)?>, _ part: @escaping @Sendable () async throws -> Void) {
        self.failure = failure
        self.part = part
    }

    /// Called by the service group of ``until(done:beside:logger:)``.
    package func run() async throws {
        do { try await part() } catch {
            failure.withLock { $0 = $0 ?? error }
            throw error
        }
    }

    /// Runs the work beside the nodes that it needs. When the work ends, or on a signal, all stop: the work first.
    ///
    /// A signal starts a graceful shutdown; after five seconds the work is cancelled. SIGHUP counts as such a signal
    /// unless the process ignores it, as under `nohup` or after ``Hangup/ignore()``.
    ///
    /// - Parameter onHangup: called at each SIGHUP, which then stops nothing.
    package static func until(
        done work: @escaping @Sendable () async throws -> Void,
        beside nodes: [any Service] = [],
        onHangup: (@Sendable () async -> Void)? = nil,
        logger: Logger
    ) async throws {
        let survivesHangup = onHangup != nil || Hangup.isIgnored
        let hangups = onHangup.map { onHangup in
            Task { for await _ in await UnixSignalsSequence(trapping: .sighup) { await onHangup() } }
        }
        defer { hangups?.cancel() }
        let failure = Locked<(any Error)?>(nil)
        let services =
            nodes.map { node in
                SignalledRun(failure) {
                    try await node.run()
                    // The work may close a node before it ends itself: then the group must not cancel the work.
                    try? await gracefulShutdown()
                }
            } + [SignalledRun(failure, work)]
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: [.sigint, .sigterm] + (survivesHangup ? [] : [.sighup]),
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        do { try await ServiceGroup(configuration: configuration).run() } catch {
            throw failure.withLock { $0 } ?? error
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

/// SIGHUP, which a process receives when its terminal closes.
package enum Hangup {
    /// Lets the process survive its terminal. Call it before any work that must not be interrupted.
    package static func ignore() { _ = signal(SIGHUP, SIG_IGN) }

    /// Whether the process ignores it: it was started with `nohup`, or called ``ignore()``.
    fileprivate static var isIgnored: Bool {
        // `signal` alone reports the handler in the same way on each system; no other code changes it meanwhile.
        let current = signal(SIGHUP, SIG_IGN)
        signal(SIGHUP, current)
        // Handlers are not comparable, but their addresses are.
        return unsafeBitCast(current, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
