public import Logging
import StatecastFiles
import StatecastJournal
import StatecastZeroMQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs the body until it returns or the process receives SIGINT or SIGTERM, and ends the process: the main of a
/// program that runs nodes.
///
/// ```swift
/// // main.swift
/// await runUntilSignal {
///     let primary = try Primary(store: "counter", state: Counter(), actions: actions, reducer: reducer)
///     try await primary.run()
/// }
/// ```
///
/// A signal starts a graceful shutdown, on which the nodes in the body stop; after five seconds the body is cancelled.
/// A body that does not end then, such as a loop that ignores `Task.isCancelled`, or that waits for standard input, is
/// logged after five more seconds, and another signal ends the process. SIGHUP is such a signal, too, unless the
/// process ignores it, as under `nohup`.
///
/// A failure is one line on standard error. The process ends with 0 if the body returned, and otherwise with a code
/// from which a supervisor can tell whether a restart can help, the same as those of the executables:
///
/// | code | failure |
/// |---|---|
/// | 64 | a mistake of the program or its settings: `definition`, `insecure`, `keys`, or a malformed `endpoint` |
/// | 65 | the journal is damaged, or was removed: restore a backup |
/// | 78 | the journal is of another store or build, or a copy |
/// | 2, 3 | a ``Rejection``; 3 if its code is `outcome-unknown` |
/// | 1 | any other, also that the body had to be cancelled; a restart can help |
///
/// - Parameters:
///   - logger: logs the shutdown.
///   - body: creates and runs nodes. Run several with a task group or a service group.
public func runUntilSignal(
    logger: Logger = Logger(label: "statecast"),
    _ body: @escaping @Sendable () async throws -> Void
) async -> Never {
    do { try await SignalledRun.until(done: body, logger: logger) } catch {
        let message = error is CancellationError ? "the work was cancelled before it was done" : "\(error)"
        let line = message.split(whereSeparator: \.isNewline).joined(separator: " ")
        let text = Array("Error: \(line)\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        exit(ProcessExit.code(of: error))
    }
    exit(0)
}

/// The exit codes of processes that run nodes; those from 64 on are of `sysexits.h`, and a restart cannot help.
package enum ProcessExit {
    package static let failed: Int32 = 1
    package static let rejected: Int32 = 2
    package static let outcomeUnknown: Int32 = 3
    /// `EX_USAGE`.
    package static let wrongUsage: Int32 = 64
    /// `EX_DATAERR`: only a backup or a salvage helps.
    package static let journalDamaged: Int32 = 65
    /// `EX_TEMPFAIL`: another node leads, or may; another start stands by.
    package static let mustRestart: Int32 = 75
    /// `EX_CONFIG`: the journal belongs to another store or build, or is a backup.
    package static let journalUnfit: Int32 = 78

    package static func code(of error: any Error) -> Int32 {
        switch error {
        case let failure as JournalFailure: code(of: failure)
        case let rejection as Rejection: rejection.code == .outcomeUnknown ? outcomeUnknown : rejected
        case let error as StatecastError:
            if let failure = error.cause as? JournalFailure { code(of: failure) } else { code(of: error) }
        default: failed
        }
    }

    private static func code(of error: StatecastError) -> Int32 {
        switch error.code {
        case .insecure, .definition: wrongUsage
        case .endpoint where (error.cause as? ZeroMQError)?.code == .invalidEndpoint: wrongUsage
        // A file that could not be read may be readable later.
        case .keys where !(error.cause is SystemFailure): wrongUsage
        default: failed
        }
    }

    private static func code(of failure: JournalFailure) -> Int32 {
        switch failure.code {
        case .inUse, .pruned, .storageFull, .inputOutput: failed
        case .fenced, .unknown: mustRestart
        case .misfit, .newerFormat: journalUnfit
        default: journalDamaged
        }
    }
}
