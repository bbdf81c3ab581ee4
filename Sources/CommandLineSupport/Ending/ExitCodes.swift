package import ArgumentParser

/// What the executables end with besides 0 (done), 1 (failed) and 64 (wrong usage), which argument-parser defines. Numbers
/// from 64 on are those of `sysexits.h`.
extension ExitCode {
    /// An action was rejected.
    package static let actionRejected = ExitCode(2)
    /// Something was sent whose outcome is not known; session and numbers were named.
    package static let outcomeUnknown = ExitCode(3)
    /// The journal is damaged (`EX_DATAERR`): only a backup or a salvage helps, not another start.
    package static let journalDamaged = ExitCode(65)
    /// The state has nothing at the selected path (`EX_NOINPUT`).
    package static let nothingSelected = ExitCode(66)
    /// The journal is another store's, another build's, or a backup (`EX_CONFIG`): name another one.
    package static let journalUnfit = ExitCode(78)
}
