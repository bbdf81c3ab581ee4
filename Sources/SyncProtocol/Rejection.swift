/// Why something was not done: a code that a program can act on, and a sentence for people.
///
/// Final rejections of an action are recorded like applied actions are: the action's number is used up and the same
/// answer is given however often one asks. Transient ones (see ``Code/isTransient``) record nothing.
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
    /// Final: the store has no action of this name.
    public static let unknownAction = Self(rawValue: "unknown-action")
    /// Final: the payload is not what the action's type needs; the message names the field.
    public static let undecodable = Self(rawValue: "undecodable")
    /// Final: a policy of the primary said no.
    public static let refused = Self(rawValue: "refused")
    /// Final: the action, or what it would make of the state, exceeds a limit, which the message names.
    public static let tooLarge = Self(rawValue: "too-large")
    /// Final: the state that the action leads to cannot be encoded, so nobody could follow it.
    public static let unencodable = Self(rawValue: "unencodable")

    /// Transient: more sessions are active at once than the primary keeps.
    public static let overloaded = Self(rawValue: "overloaded")
    /// Transient: more joins are waiting than the primary queues.
    public static let busy = Self(rawValue: "busy")

    /// The primary does not serve a store of this name.
    public static let unknownStore = Self(rawValue: "unknown-store")
    /// The peer speaks another version of the protocol.
    public static let unsupportedVersion = Self(rawValue: "unsupported-version")
    /// A topic, frame, name or endpoint is not well-formed.
    public static let malformed = Self(rawValue: "malformed")
    /// The primary no longer knows the session, so it cannot tell what it has applied before.
    public static let unknownSession = Self(rawValue: "unknown-session")
    /// The primary has seen higher numbers than this sender ever sent: two processes use one session.
    public static let sessionDiverged = Self(rawValue: "session-diverged")
    /// The snapshot is no longer kept; join again.
    public static let snapshotGone = Self(rawValue: "snapshot-gone")
    /// The sender stopped waiting: the action may or may not have been applied.
    public static let outcomeUnknown = Self(rawValue: "outcome-unknown")
    /// The sender stopped waiting before the action left the process: it has not been applied and will not be.
    public static let notSent = Self(rawValue: "not-sent")
    /// What the primary publishes does not fit the replica's types.
    public static let incompatible = Self(rawValue: "incompatible")

    /// Whether asking again later may succeed without any change.
    public var isTransient: Bool { self == .overloaded || self == .busy }
}
