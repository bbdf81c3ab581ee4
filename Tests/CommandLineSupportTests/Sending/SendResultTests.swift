import StateCoding
import Statecast
import Testing

@testable import CommandLineSupport

/// The lines that statecast-send prints.
@Suite struct SendResultTests {
    @Test func `what was applied has number and revision`() {
        let result = SendResult.applied(1, revision: 12)
        #expect(result.kind == .applied)
        #expect(result.json() == #"{"number":1,"status":"applied","revision":12}"#)
        #expect(result.text() == "applied  StepChangeRequested  revision 12  (number 1)")
    }

    @Test func `what was rejected has code and message`() {
        let result = SendResult.failed(2, .unknownAction, "no such action")
        #expect(result.kind == .rejected)
        #expect(
            result.json() == #"{"number":2,"status":"rejected","code":"unknown-action","message":"no such action"}"#
        )
        #expect(result.text() == "rejected  StepChangeRequested  unknown-action: no such action  (number 2)")
    }

    @Test func `what is unknown is neither applied nor rejected`() {
        let result = SendResult.failed(3, .outcomeUnknown, "no receipt")
        #expect(result.kind == .unknown)
        #expect(result.json() == #"{"number":3,"status":"unknown","code":"outcome-unknown","message":"no receipt"}"#)
        #expect(result.text() == "unknown  StepChangeRequested  no receipt  (number 3)")
    }

    @Test func `what was not sent has no number`() {
        let result = SendResult.failed(nil, .notSent, "interrupted")
        #expect(result.kind == .notSent)
        #expect(result.json() == #"{"number":null,"status":"not-sent","code":"not-sent","message":"interrupted"}"#)
        #expect(result.text() == "not-sent  StepChangeRequested  interrupted")
    }

    @Test func `what is too large is rejected, though it never got a number`() {
        #expect(SendResult.failed(nil, .tooLarge).kind == .rejected)
        #expect(SendResult.failed(4, .tooLarge).kind == .rejected)
    }

    @Test func `a rejection without a number is the session's`() {
        let rejection = Rejection(.unknownStore, "because")
        #expect(SendResult.failed(nil, .unknownStore).kind == .refusedSession(rejection))
        #expect(SendResult.failed(5, .refused).kind == .rejected)
    }

    @Test func `a malformed line is rejected under the number of the line`() {
        let result = SendResult.malformed(line: 7, LineFault(message: "not JSON"))
        #expect(result.kind == .rejected)
        #expect(
            result.json() == #"{"number":null,"status":"rejected","code":"malformed","message":"line 7: not JSON"}"#
        )
        #expect(result.text() == "rejected  line 7  malformed: not JSON")
    }

    @Test func `what a primary says reaches no terminal as it is`() {
        let result = SendResult.failed(1, .refused, "\u{1B}[2Jgone\n\u{9B}31m")
        for line in [result.text(), result.json()] {
            #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control })
        }
    }

    @Test func `the line of the input is named where it is counted`() {
        let result = SendResult.applied(1, revision: 12)
        #expect(result.json(position: 7) == #"{"number":1,"status":"applied","revision":12,"line":7}"#)
        #expect(result.text(position: 7) == result.text(), "a number is name enough for people")
        let large = SendResult.failed(nil, .tooLarge)
        #expect(large.text(position: 7) == "rejected  StepChangeRequested  too-large: because  (line 7)")
    }
}
