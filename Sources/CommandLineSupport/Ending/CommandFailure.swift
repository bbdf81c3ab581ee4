package import ArgumentParser
internal import Statecast

/// Why a command ends early: one line for people, and the exit code for programs.
package struct CommandFailure: Error, CustomStringConvertible {
    /// What the process ends with.
    package let exitCode: ExitCode
    /// What is wrong, and what to do.
    package let message: String

    /// The message.
    package var description: String { message }

    /// What was asked for makes no sense, whether on the command line, in the environment or in the config file: 64.
    /// Starting again cannot help, which is what service managers want to know.
    package static func wrongUsage(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .validationFailure, message: message)
    }

    /// It made sense, and could not be done: 1.
    package static func failed(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .failure, message: message)
    }

    /// It left, and nobody can say what became of it: 3.
    static func unknownOutcome(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .outcomeUnknown, message: message)
    }

    /// The last state has nothing to show: 66.
    static func nothingSelected(_ message: String) -> CommandFailure {
        CommandFailure(exitCode: .nothingSelected, message: message)
    }

    /// Puts an error of the library in the terms of a command.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let failure as JournalFailure:
            self.init(exitCode: Self.exitCode(of: failure), message: failure.message)
        case let error as StatecastError where error.cause is JournalFailure:
            let code = (error.cause as? JournalFailure).map(Self.exitCode) ?? .failure
            self.init(exitCode: code, message: error.message)
        case let error as StatecastError where error.code == .insecure || error.code == .definition:
            self = .wrongUsage(error.message)
        case let rejection as Rejection: self = .failed(rejection.message)
        default: self = .failed("\(error)")
        }
    }

    /// Tells service managers not to restart a primary whose journal a restart cannot repair.
    private static func exitCode(of failure: JournalFailure) -> ExitCode {
        switch failure.code {
        case .inUse, .pruned, .storageFull, .inputOutput: .failure
        case .misfit, .newerFormat: .journalUnfit
        default: .journalDamaged
        }
    }

    private init(exitCode: ExitCode, message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}

/// The reader of standard output closed it. For a command that only prints that is no failure.
package struct OutputClosed: Error, CustomStringConvertible {
    /// The reason, for a command that does more than print.
    package var description: String { "cannot write to standard output: its reader closed it" }
}
