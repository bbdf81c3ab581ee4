import Statecast
import StatecastCoding

/// A request in flight: a line of the input that has, or will have, an outcome.
struct SubmittedRequest: Sendable {
    /// The line of the input; `nil` if the input has no lines.
    let position: UInt64?
    /// The action's name, or the reason why the line is no request.
    let content: Result<String, MalformedLine>
    /// `nil` for a malformed line, unless the session file keeps its outcome.
    let receipt: PendingReceipt?

    init(position: UInt64?, content: Result<String, MalformedLine>, receipt: PendingReceipt?) {
        self.position = position
        self.content = content
        self.receipt = receipt
    }

    /// A request of an earlier process, which did not print the outcome.
    init(_ resumed: ResumedAction) {
        position = resumed.position
        receipt = resumed.receipt
        if let name = resumed.name {
            content = .success(name)
        } else {
            let number = Int(clamping: resumed.position ?? 0)
            content = .failure(MalformedLine(number: number, message: resumed.fault ?? "no action"))
        }
    }

    /// The outcome, if it is known already.
    var known: SendOutcome? {
        switch content {
        case .failure(let line): .malformed(line)
        case .success(let name): receipt?.known.map { .resolved(name: name, $0) }
        }
    }

    /// Waits for the outcome; `nil` only if the task is cancelled, when the shutdown delay has passed.
    func outcome() async -> SendOutcome? {
        switch content {
        case .failure(let line): .malformed(line)
        case .success(let name): (try? await receipt?.outcome()).map { .resolved(name: name, $0) }
        }
    }
}

/// The outcome of a requested action, as a line of output.
enum SendOutcome: Sendable {
    /// The line of input is no request.
    case malformed(MalformedLine)
    /// The action was submitted.
    case resolved(name: String, ActionOutcome)

    /// The outcome's effect on the command's exit code.
    enum Kind: Equatable {
        case applied
        case rejected
        /// The action may or may not have been applied.
        case unknown
        /// The action was not applied and will not be.
        case notSent
        /// The session file keeps the action.
        case kept
        /// The primary refused the session, not this action.
        case refusedSession(Rejection)
    }

    var kind: Kind {
        guard case .resolved(_, let outcome) = self else { return .rejected }
        guard case .failure(let rejection) = outcome.result else { return .applied }
        switch rejection.code {
        case .outcomeUnknown: return .unknown
        case .notSent: return .notSent
        case .kept: return .kept
        // The sender rejects a large action before it numbers it; any other reason without a number is the session's.
        case .tooLarge: return .rejected
        default: return outcome.number == nil ? .refusedSession(rejection) : .rejected
        }
    }

    /// - Parameter position: the line of the input.
    func line(_ format: OutputFormat, position: UInt64? = nil) -> String {
        switch format {
        case .text: text(position: position)
        case .json: JSONLine(fields + (position.map { [("line", Value($0))] } ?? [])).description
        }
    }

    /// `{"number":1,"status":"applied","revision":12}`.
    private var fields: [(key: String, value: Value)] {
        switch self {
        case .malformed(let line):
            Self.fields(nil, "rejected", Rejection(.malformed, "line \(line.number): \(line.message)"))
        case .resolved(_, let outcome):
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

    /// `applied  StepChangeRequested  revision 12  (number 1)`; names the line of an action without a number.
    private func text(position: UInt64?) -> String {
        switch self {
        case .malformed(let line):
            return VisibleText.line("rejected  line \(line.number)  malformed: \(line.message)")
        case .resolved(let name, let outcome):
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
