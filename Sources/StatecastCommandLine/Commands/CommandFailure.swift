package import ArgumentParser
import Statecast

/// The exit codes of the executables besides 0 (done), 1 (failed) and 64 (wrong usage), which argument-parser defines.
/// Numbers from 64 on are those of `sysexits.h`.
extension ExitCode {
    /// An action was rejected.
    package static let actionRejected = ExitCode(ProcessExit.rejected)
    /// The outcome of an action is unknown; the message names session and numbers.
    package static let outcomeUnknown = ExitCode(ProcessExit.outcomeUnknown)
    /// The journal is damaged (`EX_DATAERR`): only a backup or a salvage helps, not a restart.
    package static let journalDamaged = ExitCode(ProcessExit.journalDamaged)
    /// The state has nothing at the selected path (`EX_NOINPUT`).
    package static let nothingSelected = ExitCode(66)
    /// The journal belongs to another store or build, or is a backup (`EX_CONFIG`): name another one.
    package static let journalUnfit = ExitCode(ProcessExit.journalUnfit)
}

/// Why a command ends early: one line for people, and the exit code for programs.
package struct CommandFailure: Error, CustomStringConvertible {
    package let exitCode: ExitCode
    /// The problem and its remedy.
    package let message: String

    package var description: String { message }

    /// The command line, the environment or the config file asks for something invalid: 64. Service managers recognize
    /// by the code that a restart cannot help.
    package static func wrongUsage(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .validationFailure, message: message)
    }

    /// The command is valid, and failed: 1.
    package static func failed(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .failure, message: message)
    }

    /// An action was sent, and its outcome is unknown: 3.
    static func unknownOutcome(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .outcomeUnknown, message: message)
    }

    /// The last state has nothing at the selected path: 66.
    package static func nothingSelected(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .nothingSelected, message: message)
    }

    /// Maps an error of the library to a message and an exit code.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let rejection as Rejection: self = .failed(rejection.message)
        default: self.init(exitCode: ExitCode(ProcessExit.code(of: error)), message: "\(error)")
        }
    }

    private init(exitCode: ExitCode, message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}

/// The reader of standard output closed it. A command that only prints treats that as success: the reader has what it
/// wants. A command with more to do must not let this error pass.
package struct OutputClosed: Error, CustomStringConvertible {
    package var description: String { "cannot write to standard output: its reader closed it" }
}
