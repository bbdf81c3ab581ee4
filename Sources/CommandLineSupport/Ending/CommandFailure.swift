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

    /// Puts an error of the library in the terms of a command.
    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as StatecastError where error.code == .insecure || error.code == .definition:
            self = .wrongUsage(error.message)
        case let rejection as Rejection: self = .failed(rejection.message)
        default: self = .failed("\(error)")
        }
    }

    private init(exitCode: ExitCode, message: String) {
        self.exitCode = exitCode
        self.message = message
    }
}

/// Whoever read the standard output went away: nothing to complain about.
package struct OutputClosed: Error {}
