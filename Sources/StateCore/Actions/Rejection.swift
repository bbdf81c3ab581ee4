/// Why something was not done: a code that a program can act on, and a sentence for people.
///
/// A middleware throws one to keep an action from the reducer; across processes it reaches the sender in place of a
/// receipt.
public struct Rejection: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a program acts on. The text is what stands on the wire.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The code as it stands on the wire and on the command line.
        public let rawValue: String

        /// Wraps a code; one that this version does not know is kept as it is.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code as it stands on the wire.
        public var description: String { rawValue }
    }

    /// What a program acts on.
    public let code: Code
    /// What was expected, what came, and what to do.
    public let message: String

    /// Names a reason.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// `code: message`.
    public var description: String { "\(code): \(message)" }
}

extension Rejection.Code {
    /// A middleware, such as a policy, said no.
    public static let refused = Self(rawValue: "refused")
    /// A middleware took the action and gave it to nobody.
    public static let swallowed = Self(rawValue: "swallowed")
    /// The core was stopped: actions are not taken until it is started again.
    public static let stopped = Self(rawValue: "stopped")
}
