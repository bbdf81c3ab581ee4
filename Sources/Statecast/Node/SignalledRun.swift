import Dispatch
package import Logging
package import ServiceLifecycle
import StatecastThreading
import UnixSignals

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
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
    /// A signal starts a graceful shutdown; after five seconds the work is cancelled. Work that ignores this too is
    /// logged, and then another signal ends the process. SIGHUP counts as such a signal unless the process ignores it,
    /// as under `nohup` or after ``Hangup/ignore()``.
    ///
    /// - Parameters:
    ///   - observers: stop before the work.
    ///   - onHangup: called at each SIGHUP, which then stops nothing.
    package static func until(
        done work: @escaping @Sendable () async throws -> Void,
        beside nodes: [any Service] = [],
        observedBy observers: [any Service] = [],
        onHangup: (@Sendable () async -> Void)? = nil,
        logger: Logger
    ) async throws {
        let survivesHangup = onHangup != nil || Hangup.isIgnored
        var hangups: Task<Void, Never>?
        if let onHangup {
            let signals = await UnixSignalsSequence(trapping: .sighup)
            hangups = Task { for await _ in signals { await onHangup() } }
        }
        defer { hangups?.cancel() }
        let signals = [SIGINT, SIGTERM] + (survivesHangup ? [] : [SIGHUP])
        let failure = Locked<(any Error)?>(nil)
        func run(_ node: any Service) -> SignalledRun {
            SignalledRun(failure) {
                try await node.run()
                // The work may close a node before it ends itself: then the group must not cancel the work.
                try? await gracefulShutdown()
            }
        }
        let services = nodes.map(run) + [SignalledRun(failure, work)] + observers.map(run)
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = StopSignals.grace
        let group = ServiceGroup(configuration: configuration)
        let stopping = await StopSignals(signals, logger) { Task { await group.triggerGracefulShutdown() } }
        defer { stopping.end() }
        do { try await group.run() } catch {
            throw failure.withLock { $0 } ?? error
        }
        if let failure = failure.withLock({ $0 }) { throw failure }
    }
}

/// The signals that ask a process to stop. Logs what the process waits for then, and lets it be ended when that is in
/// vain.
///
/// On a thread of Dispatch: the work may block all threads on which tasks run.
///
/// Unchecked, but safe: the variables are used on one queue.
private final class StopSignals: @unchecked Sendable {
    /// From the first signal to the cancellation of the work.
    static let grace = Duration.seconds(5)

    private let logger: Logger
    private let onFirst: @Sendable () -> Void
    private let queue = DispatchQueue(label: "statecast-stop")
    private var sources: [any DispatchSourceSignal] = []
    private var isAsked = false
    /// Whether the work was cancelled, and has not ended.
    private var isInVain = false
    private var hasEnded = false

    /// Returns when none of the signals ends the process any more: a dispatch source is registered asynchronously.
    init(_ signals: [Int32], _ logger: Logger, onFirst: @escaping @Sendable () -> Void) async {
        (self.logger, self.onFirst) = (logger, onFirst)
        for number in signals {
            #if canImport(Darwin)
                // A dispatch source observes a signal, but leaves its default action in effect there.
                signal(number, SIG_IGN)
            #endif
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [weak self] in self?.received(number) }
            sources.append(source)
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.activate()
            }
        }
    }

    func end() {
        queue.async { [self] in
            hasEnded = true
            for source in sources { source.cancel() }
        }
    }

    private func received(_ number: Int32) {
        if isInVain { _exit(128 + number) }
        guard !isAsked else { return }
        isAsked = true
        onFirst()
        remind(
            after: .seconds(1),
            .notice,
            "asked to stop, waiting for the work to end; it is cancelled after \(Self.grace)"
        )
        let vain =
            "the work was cancelled \(Self.grace) ago, and has not ended; another signal ends the process at once"
        // A picture on the terminal hides lower levels.
        remind(after: Self.grace * 2, .critical, vain) { $0.isInVain = true }
    }

    private func remind(
        after delay: Duration,
        _ level: Logger.Level,
        _ message: String,
        _ change: @escaping @Sendable (StopSignals) -> Void = { _ in }
    ) {
        let delay = DispatchTimeInterval.milliseconds(Int(delay / .milliseconds(1)))
        queue.asyncAfter(deadline: .now() + delay) { [weak self] in
            guard let self, !hasEnded else { return }
            change(self)
            // Elsewhere: standard error may be full, and the queue has to receive signals.
            DispatchQueue.global().async { self.logger.log(level: level, "\(message)") }
        }
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
