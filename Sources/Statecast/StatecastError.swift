import StatecastProtocol
import StatecastZeroMQ

#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

/// A failure of a node outside of the protocol: an endpoint in use, a state that cannot be encoded.
///
/// A primary's answers are reported as a ``Rejection`` instead.
public struct StatecastError: Error, Sendable, CustomStringConvertible {
    /// The kind of a failure, for programs.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as a word.
        public let description: String

        /// An endpoint is malformed, in use, not permitted or not available; the message says which.
        public static let endpoint = Code(description: "endpoint")
        /// The system has no more file descriptors, threads or memory.
        public static let resources = Code(description: "resources")
        /// The endpoint is not on this machine, and nothing protects its traffic.
        public static let insecure = Code(description: "insecure")
        /// The definition of a store is wrong: its state cannot be encoded, two actions have one name, or the name of
        /// one is too long. Or a store that the node does not serve has an endpoint.
        public static let definition = Code(description: "definition")
        /// The journal is in use, damaged, removed, of another store, or not writable; the message says which.
        /// ``StatecastError/cause`` is a `JournalFailure` with a code of its own.
        public static let journal = Code(description: "journal")
        /// The session file is in use, damaged, of another store, or not writable; the message says which.
        public static let session = Code(description: "session")
        /// A key file or an access list is malformed, cannot be read or written, or is accessible to others; the
        /// message says which.
        public static let keys = Code(description: "keys")
        /// The node has ended, or `run()` was called twice.
        public static let closed = Code(description: "closed")
        /// The replica has left the history that a position belongs to.
        public static let otherLineage = Code(description: "other-lineage")
    }

    /// The kind of the failure.
    public let code: Code
    /// What was expected, what came, and what to do.
    public let message: String
    /// The error that caused the failure.
    public let cause: (any Error)?

    /// Creates a failure.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The message.
    public var description: String { message }

    init(_ error: ZeroMQError) {
        let detail = error.cause.map { " (\($0))" } ?? ""
        let code: Code = error.code == .resourcesExhausted ? .resources : .endpoint
        self.init(code, error.message + detail, cause: error)
    }
}

extension StatecastError: LocalizedError {
    /// The message.
    public var errorDescription: String? { description }
}

extension Rejection: LocalizedError {
    /// The code and the message.
    public var errorDescription: String? { description }
}

extension StoreName {
    /// Checks a store's name that an application passes.
    ///
    /// - Throws: ``StatecastError`` with code `definition`.
    init(checking name: String) throws(StatecastError) {
        do { try self.init(name) } catch { throw StatecastError(.definition, error.message, cause: error) }
    }
}
