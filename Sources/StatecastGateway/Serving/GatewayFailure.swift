import Statecast
import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastJournal
import StatecastProtocol

/// Why a request has no answer: a code for programs and a message for people.
struct GatewayFailure: Error {
    enum Code: String {
        case badRequest = "bad-request"
        case token
        case origin
        case notPermitted = "not-permitted"
        case readOnly = "read-only"
        case noSuchStore = "no-such-store"
        case noSuchPath = "no-such-path"
        case methodNotAllowed = "method"
        case numberUsed = "number-used"
        case pruned
        case tooLarge = "too-large"
        case busy
        case noState = "no-state"
        case noJournal = "no-journal"
        case budget
    }

    let code: Code
    let message: String
    /// After how many seconds the request may succeed.
    var retryAfter: Int?
    /// The oldest revision that is kept.
    var oldest: Revision?

    init(_ code: Code, _ message: String, retryAfter: Int? = nil) {
        (self.code, self.message, self.retryAfter) = (code, message, retryAfter)
    }

    static func nothing(at path: [String]) -> GatewayFailure {
        GatewayFailure(.noSuchPath, "the state has nothing at \(JSONPointer.text(of: path))")
    }

    static func pruned(_ revision: Revision, oldest: Revision) -> GatewayFailure {
        var failure = GatewayFailure(
            .pruned,
            "revision \(revision) is no longer kept: the journal begins at revision \(oldest)"
        )
        failure.oldest = oldest
        return failure
    }

    /// The failure of a request that failed with any error.
    init(_ error: any Error) {
        switch error {
        case let failure as GatewayFailure: self = failure
        case let failure as JournalFailure where failure.code == .pruned: self.init(.pruned, failure.message)
        case let failure as JournalFailure: self.init(.noJournal, failure.message, retryAfter: 5)
        case let error as StatecastError: self.init(.noState, error.message, retryAfter: 1)
        case let rejection as Rejection: self.init(.notPermitted, rejection.message)
        default: self.init(.noJournal, "\(error)", retryAfter: 5)
        }
    }

    /// The body of the answer.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.object("error") { writer in
                writer.member("code", code.rawValue)
                writer.member("message", message)
                if let retryAfter { writer.member("retryAfter", retryAfter) }
                if let oldest { writer.member("oldest", oldest) }
            }
        }
        return writer.bytes
    }
}

extension GatewayFailure {
    /// The status of the answer.
    var status: Int {
        switch code {
        case .badRequest: 400
        case .token: 401
        case .origin, .notPermitted, .readOnly: 403
        case .noSuchStore, .noSuchPath: 404
        case .methodNotAllowed: 405
        case .numberUsed: 409
        case .pruned: 410
        case .tooLarge: 413
        case .busy: 429
        case .noState, .noJournal: 503
        case .budget: 504
        }
    }
}
