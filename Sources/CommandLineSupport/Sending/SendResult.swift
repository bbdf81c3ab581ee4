internal import StateCoding
internal import Statecast

/// What became of one requested action, as it is shown.
enum SendResult: Sendable {
    /// The line of input was no request.
    case malformed(line: Int, LineFault)
    /// The action was taken, and is over.
    case settled(name: String, ActionOutcome)

    /// What the outcome means for the command as a whole.
    enum Kind: Equatable {
        case applied
        case rejected
        /// It may or may not have been applied.
        case unknown
        /// It has not been applied and will not be.
        case notSent
        /// The session file keeps it.
        case kept
        /// It was not this action that was refused, but the session.
        case refusedSession(Rejection)
    }

    var kind: Kind {
        guard case .settled(_, let outcome) = self else { return .rejected }
        guard case .failure(let rejection) = outcome.result else { return .applied }
        switch rejection.code {
        case .outcomeUnknown: return .unknown
        case .notSent: return .notSent
        case .kept: return .kept
        // What is too large is found out before it gets a number; any other reason without one is the session's.
        case .tooLarge: return .rejected
        default: return outcome.number == nil ? .refusedSession(rejection) : .rejected
        }
    }

    /// For programs: `{"number":1,"status":"applied","revision":12}`.
    ///
    /// - Parameter position: the line of the input, where it is to be named.
    func json(position: UInt64? = nil) -> String {
        JSONLine(fields + (position.map { [("line", Value($0))] } ?? [])).description
    }

    private var fields: [(key: String, value: Value)] {
        switch self {
        case .malformed(let line, let fault):
            Self.fields(nil, "rejected", Rejection(.malformed, "line \(line): \(fault.message)"))
        case .settled(_, let outcome):
            switch outcome.result {
            case .success(let receipt):
                [
                    ("number", Value(receipt.number.rawValue)), ("status", "applied"),
                    ("revision", Value(receipt.revision.rawValue)),
                ]
            case .failure(let rejection): Self.fields(outcome.number, status, rejection)
            }
        }
    }

    /// For people: `applied  StepChangeRequested  revision 12  (number 1)`.
    ///
    /// - Parameter position: the line of the input, for what never got a number.
    func text(position: UInt64? = nil) -> String {
        switch self {
        case .malformed(let line, let fault):
            return VisibleText.line("rejected  line \(line)  malformed: \(fault.message)")
        case .settled(let name, let outcome):
            let number =
                outcome.number.map { "  (number \($0))" } ?? position.map { "  (line \($0))" } ?? ""
            let detail =
                switch outcome.result {
                case .success(let receipt): "revision \(receipt.revision)"
                case .failure(let rejection): kind == .rejected ? rejection.description : rejection.message
                }
            return VisibleText.line(status + "  " + name + "  " + detail + number)
        }
    }

    private var status: String {
        switch kind {
        case .applied: "applied"
        case .rejected, .refusedSession: "rejected"
        case .unknown: "unknown"
        case .notSent: "not-sent"
        case .kept: "kept"
        }
    }

    private static func fields(
        _ number: ActionNumber?,
        _ status: String,
        _ rejection: Rejection
    ) -> [(key: String, value: Value)] {
        [
            ("number", number.map { Value($0.rawValue) } ?? .null), ("status", .text(status)),
            ("code", .text(rejection.code.rawValue)), ("message", .text(rejection.message)),
        ]
    }
}
