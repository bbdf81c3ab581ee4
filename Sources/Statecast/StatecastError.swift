internal import ZeroMQ

/// Why a node could not do what was asked of it, before or beside the protocol: an endpoint that is taken, a state that
/// cannot be encoded.
///
/// What a primary answers comes as a ``Rejection`` instead.
public struct StatecastError: Error, Sendable, CustomStringConvertible {
    /// What a program acts on.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// A word for logs.
        public let description: String

        /// An endpoint is not parsable, taken, not permitted or not to be had; the message says which.
        public static let endpoint = Code(description: "endpoint")
        /// The endpoint is not on this machine, and nothing protects it.
        public static let insecure = Code(description: "insecure")
        /// The store's definition is wrong: its state cannot be encoded, or two actions have one name.
        public static let definition = Code(description: "definition")
        /// The journal is in use, damaged, removed, of another store, or cannot be written. The message says which; a program
        /// finds it in ``StatecastError/cause``, a `JournalFailure` with a code of its own.
        public static let journal = Code(description: "journal")
        /// The session file is in use, damaged, of another store, or cannot be written; the message says which.
        public static let session = Code(description: "session")
        /// The node was closed.
        public static let closed = Code(description: "closed")
        /// The replica follows another history than the one that was asked about.
        public static let otherLineage = Code(description: "other-lineage")
    }

    /// What a program acts on.
    public let code: Code
    /// What was expected, what came, and what to do.
    public let message: String
    /// What it came from.
    public let cause: (any Error)?

    /// Names a failure.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }

    init(_ error: ZeroMQError) {
        let detail = error.cause.map { " (\($0))" } ?? ""
        self.init(.endpoint, error.message + detail, cause: error)
    }
}
