package import ArgumentParser
package import Logging
package import ServiceLifecycle
internal import UnixSignals

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

extension AsyncParsableCommand {
    /// Does the work of a command and reports how it ends: a failure is one line on standard error and an exit code.
    package func reportingFailures(_ work: () async throws -> Void) async throws {
        StandardStreams.reserve()
        // A closed pipe is then an error of the write that met it, not the end of the process.
        signal(SIGPIPE, SIG_IGN)
        do { try await work() } catch let code as ExitCode { throw code } catch is OutputClosed {
            throw ExitCode.success
        } catch {
            let failure = CommandFailure(error)
            StandardError.write("Error: " + VisibleText.line(failure.message))
            throw failure.exitCode
        }
    }
}

/// What a command does until it is done, or until SIGINT, SIGTERM or SIGHUP asks it to stop.
package struct CommandRun: Service {
    private let work: @Sendable () async throws -> Void

    /// The group's service; use ``until(done:beside:logger:)``.
    package func run() async throws { try await work() }

    /// Runs the work beside the nodes that it needs. When it ends, or on a signal, all stop: the work first.
    ///
    /// The work learns of a signal as a graceful shutdown, and has some seconds to end; then it is cancelled. SIGHUP counts
    /// unless the process ignores it, as under `nohup` or after ``Hangup/ignore()``.
    package static func until(
        done work: @escaping @Sendable () async throws -> Void,
        beside nodes: [any Service] = [],
        logger: Logger
    ) async throws {
        let services = nodes + [CommandRun(work: work)]
        var configuration = ServiceGroupConfiguration(
            services: services.map { service in
                .init(
                    service: service,
                    successTerminationBehavior: .gracefullyShutdownGroup,
                    failureTerminationBehavior: .gracefullyShutdownGroup
                )
            },
            gracefulShutdownSignals: [.sigint, .sigterm] + (Hangup.isIgnored ? [] : [.sighup]),
            logger: logger
        )
        configuration.maximumGracefulShutdownDuration = .seconds(5)
        try await ServiceGroup(configuration: configuration).run()
    }
}
