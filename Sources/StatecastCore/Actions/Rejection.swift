/// The reason for which an action was not applied: a code for programs and a message for people.
///
/// A middleware throws a rejection to keep an action from the reducer. Across processes the sender receives it in place
/// of a receipt.
public struct Rejection: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable code.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code on the wire and on the command line.
        public let rawValue: String

        /// Wraps a code. Unknown codes of other versions are valid.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The raw value.
        public var description: String { rawValue }
    }

    /// The reason, for programs.
    public let code: Code
    /// The expected and the actual input, and the remedy.
    public let message: String

    /// Creates a rejection.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}

extension Rejection.Code {
    /// A middleware, such as a policy, refused the action.
    public static let refused = Self(rawValue: "refused")
    /// A middleware neither passed the action on nor answered it.
    public static let swallowed = Self(rawValue: "swallowed")
    /// The core is stopped and accepts actions after its next start.
    public static let stopped = Self(rawValue: "stopped")
}
