import Statecast
import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastJournal
import StatecastProtocol

/// Why a request has no answer: a code for programs and a message for people.
struct GatewayFailure: Error {
    struct Code: Equatable {
        let name: String
        /// The status of the answer.
        let status: Int

        private init(_ name: String, _ status: Int) { (self.name, self.status) = (name, status) }

        static let badRequest = Code("bad-request", 400)
        static let token = Code("token", 401)
        static let origin = Code("origin", 403)
        static let notPermitted = Code("not-permitted", 403)
        static let readOnly = Code("read-only", 403)
        static let noSuchStore = Code("no-such-store", 404)
        static let noSuchPath = Code("no-such-path", 404)
        static let methodNotAllowed = Code("method", 405)
        static let numberUsed = Code("number-used", 409)
        static let pruned = Code("pruned", 410)
        static let tooLarge = Code("too-large", 413)
        static let busy = Code("busy", 429)
        static let noState = Code("no-state", 503)
        static let noJournal = Code("no-journal", 503)
        static let budget = Code("budget", 504)
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
                writer.member("code", code.name)
                writer.member("message", message)
                if let retryAfter { writer.member("retryAfter", retryAfter) }
                if let oldest { writer.member("oldest", oldest) }
            }
        }
        return writer.bytes
    }
}
