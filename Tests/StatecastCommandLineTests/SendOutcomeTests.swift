import Testing

@testable import Statecast
@testable import StatecastCommandLine

/// The lines that statecast-send prints.
@Suite struct SendOutcomeTests {
    @Test func `an applied action has a number and a revision`() {
        let outcome = SendOutcome.applied(1, revision: 12)
        #expect(outcome.kind == .applied)
        #expect(outcome.line(.json) == #"{"number":1,"status":"applied","revision":12}"#)
        #expect(outcome.line(.text) == "applied  StepChangeRequested  revision 12  (number 1)")
    }

    @Test func `a rejected action has a code and a message`() {
        let outcome = SendOutcome.failed(2, .unknownAction, "no such action")
        #expect(outcome.kind == .rejected)
        #expect(
            outcome.line(.json)
                == #"{"number":2,"status":"rejected","code":"unknown-action","message":"no such action"}"#
        )
        #expect(outcome.line(.text) == "rejected  StepChangeRequested  unknown-action: no such action  (number 2)")
    }

    @Test func `an unknown outcome is neither applied nor rejected`() {
        let outcome = SendOutcome.failed(3, .outcomeUnknown, "no receipt")
        #expect(outcome.kind == .unknown)
        #expect(
            outcome.line(.json) == #"{"number":3,"status":"unknown","code":"outcome-unknown","message":"no receipt"}"#
        )
        #expect(outcome.line(.text) == "unknown  StepChangeRequested  no receipt  (number 3)")
    }

    @Test func `an action that was not sent has no number`() {
        let outcome = SendOutcome.failed(nil, .notSent, "interrupted")
        #expect(outcome.kind == .notSent)
        #expect(
            outcome.line(.json) == #"{"number":null,"status":"not-sent","code":"not-sent","message":"interrupted"}"#
        )
        #expect(outcome.line(.text) == "not-sent  StepChangeRequested  interrupted")
    }

    @Test func `an action that is too large is rejected, with or without a number`() {
        #expect(SendOutcome.failed(nil, .tooLarge).kind == .rejected)
        #expect(SendOutcome.failed(4, .tooLarge).kind == .rejected)
    }

    @Test func `a rejection without a number refuses the session`() {
        let rejection = Rejection(.unknownStore, "because")
        #expect(SendOutcome.failed(nil, .unknownStore).kind == .refusedSession(rejection))
        #expect(SendOutcome.failed(5, .refused).kind == .rejected)
    }

    @Test func `a malformed line is rejected under the number of the line`() {
        let outcome = SendOutcome.malformed(MalformedLine(number: 7, message: "not JSON"))
        #expect(outcome.kind == .rejected)
        #expect(
            outcome.line(.json)
                == #"{"number":null,"status":"rejected","code":"malformed","message":"line 7: not JSON"}"#
        )
        #expect(outcome.line(.text) == "rejected  line 7  malformed: not JSON")
    }

    @Test func `control characters of a primary's message are escaped`() {
        let outcome = SendOutcome.failed(1, .refused, "\u{1B}[2Jgone\n\u{9B}31m")
        for line in [outcome.line(.text), outcome.line(.json)] {
            #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
    }

    @Test func `a line of the input is named where it is numbered`() {
        let outcome = SendOutcome.applied(1, revision: 12)
        #expect(outcome.line(.json, position: 7) == #"{"number":1,"status":"applied","revision":12,"line":7}"#)
        #expect(outcome.line(.text, position: 7) == outcome.line(.text), "people get the number alone")
        let large = SendOutcome.failed(nil, .tooLarge)
        #expect(large.line(.text, position: 7) == "rejected  StepChangeRequested  too-large: because  (line 7)")
    }
}

/// Two sessions.
enum Session {
    static let one = SessionID(high: 1, low: 0xA)
    static let two = SessionID(high: 2, low: 0xB)
}

extension SendOutcome {
    static func applied(_ number: UInt64, revision: UInt64, in session: SessionID = Session.one) -> SendOutcome {
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(revision))
        let receipt = Receipt(session: session, number: ActionNumber(number), position: position)
        return resolved(ActionOutcome(session: session, number: ActionNumber(number), result: .success(receipt)))
    }

    static func failed(
        _ number: UInt64?,
        _ code: Rejection.Code,
        _ message: String = "because",
        in session: SessionID = Session.one
    ) -> SendOutcome {
        let outcome = ActionOutcome(
            session: number == nil ? nil : session,
            number: number.map { ActionNumber($0) },
            result: .failure(Rejection(code, message))
        )
        return resolved(outcome)
    }

    private static func resolved(_ outcome: ActionOutcome) -> SendOutcome {
        .resolved(name: "StepChangeRequested", outcome)
    }
}
