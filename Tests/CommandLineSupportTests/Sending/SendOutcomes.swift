@testable import CommandLineSupport
@testable import Statecast

/// Two sessions, and outcomes in them.
enum Session {
    static let one = SessionID(high: 1, low: 0xA)
    static let two = SessionID(high: 2, low: 0xB)
}

extension SendResult {
    static func applied(_ number: UInt64, revision: UInt64, in session: SessionID = Session.one) -> SendResult {
        let position = Position(lineage: Lineage(bits: 1), epoch: Epoch(1), revision: Revision(revision))
        let receipt = Receipt(session: session, number: ActionNumber(number), position: position)
        return settled(ActionOutcome(session: session, number: ActionNumber(number), result: .success(receipt)))
    }

    static func failed(
        _ number: UInt64?,
        _ code: Rejection.Code,
        _ message: String = "because",
        in session: SessionID = Session.one
    ) -> SendResult {
        let outcome = ActionOutcome(
            session: number == nil ? nil : session,
            number: number.map { ActionNumber($0) },
            result: .failure(Rejection(code, message))
        )
        return settled(outcome)
    }

    private static func settled(_ outcome: ActionOutcome) -> SendResult {
        .settled(name: "StepChangeRequested", outcome)
    }
}
