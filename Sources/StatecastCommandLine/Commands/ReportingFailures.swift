package import ArgumentParser

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension AsyncParsableCommand {
    /// Runs a command's work, and reports a failure as one line on standard error and an exit code.
    package func reportingFailures(_ work: () async throws -> Void) async throws {
        StandardStreams.reserve()
        // A write to a closed pipe then fails with an error instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        do {
            try InvocationText.checkArguments()
            try await work()
        } catch let code as ExitCode { throw code } catch is OutputClosed {
            throw ExitCode.success
        } catch {
            let failure = CommandFailure(error)
            StandardError.write(LineLogHandler.line(ofFailure: failure.message))
            throw failure.exitCode
        }
    }
}
