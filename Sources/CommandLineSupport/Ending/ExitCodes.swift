package import ArgumentParser

/// What the executables end with besides 0 (done), 1 (failed) and 64 (wrong usage), which argument-parser defines.
extension ExitCode {
    /// An action was rejected.
    package static let actionRejected = ExitCode(2)
    /// Something was sent whose outcome is not known; session and numbers were named.
    package static let outcomeUnknown = ExitCode(3)
}
