import ArgumentParser
import Statecast
import Testing

@testable import StatecastCommandLine

/// How a command that sent actions ends.
@Suite struct SendTallyTests {
    private func end(
        _ outcomes: [SendOutcome],
        _ inputEnd: Result<Void, any Error> = .success(()),
        because cause: String? = nil
    ) async throws -> (any Error)? {
        let settings = try await Settings(flags: [.from: .text("tcp://127.0.0.1:7")], file: nil)
        let upstream = try await Upstream(settings)
        var tally = SendTally()
        for outcome in outcomes { tally.count(outcome) }
        do {
            try tally.conclude(upstream, .open, inputEnd, because: cause)
            return nil
        } catch { return error }
    }

    private func failure(_ outcomes: [SendOutcome], because cause: String? = nil) async throws -> CommandFailure {
        try #require(try await end(outcomes, because: cause) as? CommandFailure)
    }

    @Test func `the exit codes are those that are documented`() {
        #expect(ExitCode.actionRejected.rawValue == 2)
        #expect(ExitCode.outcomeUnknown.rawValue == 3)
        #expect(CommandFailure.wrongUsage("").exitCode.rawValue == 64)
        #expect(CommandFailure.failed("").exitCode.rawValue == 1)
        #expect(CommandFailure.unknownOutcome("").exitCode.rawValue == 3)
    }

    @Test func `the total counts the outcomes by kind`() {
        var tally = SendTally()
        #expect(tally.total == "applied 0")
        let outcomes: [SendOutcome] = [
            .applied(1, revision: 1), .failed(2, .refused), .malformed(MalformedLine(number: 3, message: "not JSON")),
            .failed(3, .outcomeUnknown), .failed(4, .outcomeUnknown), .failed(6, .outcomeUnknown),
            .failed(nil, .notSent),
            .failed(nil, .kept), .failed(nil, .unknownStore),
        ]
        for outcome in outcomes { tally.count(outcome) }
        #expect(tally.total == "applied 1, rejected 3, unknown 3, not sent 1, kept 1")
    }

    @Test func `a command succeeds if all actions were applied`() async throws {
        #expect(try await end([]) == nil)
        #expect(try await end([.applied(1, revision: 1), .applied(2, revision: 2)]) == nil)
    }

    @Test(arguments: ["interrupted", nil])
    func `a command whose input was not read to its end fails, whatever the cause`(cause: String?) async throws {
        let stopped = Result<Void, any Error>.failure(CancellationError())
        let failure = try await end([.applied(1, revision: 1)], stopped, because: cause) as? CommandFailure
        #expect(failure?.exitCode == .failure)
        #expect(failure?.message == "\(cause ?? "stopped") before the input ended")
    }

    @Test func `one rejection among many is exit code 2`() async throws {
        let error = try await end([.applied(1, revision: 1), .failed(2, .refused), .applied(3, revision: 2)])
        #expect(error as? ExitCode == .actionRejected)
    }

    @Test func `a malformed line counts as a rejection`() async throws {
        let error = try await end([.malformed(MalformedLine(number: 1, message: "not JSON"))])
        #expect(error as? ExitCode == .actionRejected)
    }

    @Test func `an unknown outcome takes precedence, is exit code 3, and names session and numbers`() async throws {
        let outcomes: [SendOutcome] = [
            .failed(1, .refused), .applied(2, revision: 1), .failed(3, .outcomeUnknown), .failed(nil, .notSent),
            .failed(nil, .unknownStore),
        ]
        let failure = try await failure(outcomes, because: "timed out after 5.0 seconds")
        #expect(failure.exitCode == .outcomeUnknown)
        #expect(
            failure.message
                == "timed out after 5.0 seconds: the outcome is unknown for number 3 of session \(Session.one)"
        )
    }

    @Test func `unknown numbers are listed as ranges, by session`() async throws {
        let numbers: [UInt64] = [1, 2, 3, 5, 7, 8]
        let outcomes =
            [.failed(9, .outcomeUnknown, in: Session.two)] + numbers.map { SendOutcome.failed($0, .outcomeUnknown) }
        let message = try await failure(outcomes).message
        #expect(
            message == "the outcome is unknown for number 1-3, 5, 7-8 of session \(Session.one), "
                + "and 9 of session \(Session.two)"
        )
    }

    @Test func `the highest number can be unknown`() async throws {
        let message = try await failure([.failed(.max - 1, .outcomeUnknown), .failed(.max, .outcomeUnknown)]).message
        #expect(message.contains("\(UInt64.max - 1)-\(UInt64.max)"))
    }

    @Test func `a refused session is exit code 1, with the primary's first reason`() async throws {
        let outcomes: [SendOutcome] = [
            .failed(nil, .unknownStore, "no store here"), .failed(nil, .unknownStore, "no store there"),
            .failed(nil, .notSent), .failed(1, .refused),
        ]
        let failure = try await failure(outcomes)
        #expect(failure.exitCode == .failure)
        #expect(failure.message == "no store here")
    }

    @Test func `if no action was sent, the message names the endpoint and what to check`() async throws {
        let failure = try await failure([.failed(nil, .notSent)], because: "timed out after 1.0 seconds")
        #expect(failure.exitCode == .failure)
        #expect(failure.message.hasPrefix("timed out after 1.0 seconds: no primary answered at tcp://127.0.0.1:7"))
        #expect(failure.message.contains("--from"))
    }

    @Test func `if some actions were sent, the message says that the others are lost`() async throws {
        let some: [[SendOutcome]] = [[.applied(1, revision: 1)], [.failed(1, .refused)]]
        for left in some {
            let failure = try await failure(left + [.failed(nil, .notSent)], because: "interrupted")
            #expect(failure.exitCode == .failure)
            #expect(failure.message.hasPrefix("interrupted: the actions without a receipt were not sent"))
        }
    }

    @Test func `actions that the session file keeps are named, and end with 1`() async throws {
        let upstream = try await Upstream(try await Settings(flags: [:], file: nil))
        var tally = SendTally()
        tally.count(.applied(1, revision: 1))
        tally.count(.failed(nil, .kept))
        let failure = #expect(throws: CommandFailure.self) {
            try tally.conclude(upstream, .connecting, because: "interrupted", kept: "it holds work")
        }
        #expect(failure?.exitCode == .failure)
        #expect(failure?.message == "interrupted: it holds work")
        tally.count(.failed(2, .outcomeUnknown))
        let unknown = #expect(throws: CommandFailure.self) {
            try tally.conclude(upstream, .connecting, because: nil, kept: "it holds work")
        }
        #expect(unknown?.exitCode == .outcomeUnknown)
        #expect(unknown?.message.hasSuffix("; it holds work") == true)
    }

    @Test func `every message names the reason why the primary accepted no actions`() async throws {
        let upstream = try await Upstream(try await Settings(flags: [:], file: nil))
        let outcomes: [(SendOutcome, String)] = [
            (.failed(nil, .kept), "late (storage-full: no room): it holds work"),
            (.failed(nil, .notSent), "late (storage-full: no room): the actions without a receipt were not sent"),
            (.failed(1, .outcomeUnknown), "late (storage-full: no room): the outcome is unknown for number 1"),
        ]
        for (outcome, message) in outcomes {
            var tally = SendTally()
            tally.count(outcome)
            let kept = outcome.kind == .kept ? "it holds work" : nil
            let failure = #expect(throws: CommandFailure.self) {
                try tally.conclude(upstream, .waiting(Rejection(.storageFull, "no room")), because: "late", kept: kept)
            }
            #expect(failure?.message.hasPrefix(message) == true, "\(failure?.message ?? "")")
        }
    }

    @Test func `an incomplete input takes precedence over a rejection, and names the unfinished session`()
        async throws
    {
        let upstream = try await Upstream(try await Settings(flags: [:], file: nil))
        var tally = SendTally()
        tally.count(.failed(1, .refused))
        let ends: [(any Error, String)] = [
            (CancellationError(), "interrupted before the input ended; it holds work"),
            (CommandFailure.failed("cannot read"), "cannot read; it holds work"),
        ]
        for (error, message) in ends {
            let failure = #expect(throws: CommandFailure.self) {
                try tally.conclude(upstream, .open, .failure(error), because: "interrupted", kept: "it holds work")
            }
            #expect(failure?.exitCode == .failure)
            #expect(failure?.message == message)
        }
    }
}
