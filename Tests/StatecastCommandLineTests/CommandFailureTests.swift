import ArgumentParser
import Statecast
import Testing

@testable import StatecastCommandLine

@Suite struct CommandFailureTests {
    private struct Fault: Error, CustomStringConvertible { let description = "broken" }

    @Test func `wrong usage has the exit code 64: a restart cannot help`() {
        for code in [StatecastError.Code.insecure, .definition] {
            let failure = CommandFailure(StatecastError(code, "the reason"))
            #expect(failure.exitCode == .validationFailure)
            #expect(failure.description == "the reason")
        }
    }

    @Test func `any other failure has the exit code 1`() {
        let errors: [any Error] = [
            StatecastError(.endpoint, "the reason"), Rejection(.unknownStore, "the reason"),
        ]
        for error in errors {
            let failure = CommandFailure(error)
            #expect(failure.exitCode == .failure)
            #expect(failure.message == "the reason")
        }
        #expect(CommandFailure(Fault()).message == "broken")
        #expect(CommandFailure(Fault()).exitCode == .failure)
    }

    @Test(arguments: [
        (JournalFailure.Code.inUse, ExitCode.failure), (.pruned, .failure), (.storageFull, .failure),
        (.inputOutput, .failure), (.misfit, .journalUnfit), (.newerFormat, .journalUnfit),
        (.damaged, .journalDamaged), (.removed, .journalDamaged),
    ])
    func `a journal's failure has the exit code of its kind, also as the cause of another error`(
        code: JournalFailure.Code,
        exitCode: ExitCode
    ) {
        let cause = JournalFailure(code, "the reason")
        for failure in [CommandFailure(cause), CommandFailure(StatecastError(.journal, "the reason", cause: cause))] {
            #expect(failure.exitCode == exitCode)
            #expect(failure.message == "the reason")
        }
    }

    @Test func `a command failure keeps its message and exit code`() {
        let failure = CommandFailure(CommandFailure.unknownOutcome("number 7"))
        #expect(failure.exitCode == .outcomeUnknown)
        #expect(failure.message == "number 7")
    }
}
