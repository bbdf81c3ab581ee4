/// Why a journal could not do what was asked of it.
public struct JournalFailure: Error, Sendable, CustomStringConvertible {
    /// What a program acts on.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// A word for logs.
        public let description: String

        /// Another process has it.
        public static let inUse = Code(description: "in-use")
        /// A later version wrote it.
        public static let newerFormat = Code(description: "newer-format")
        /// It does not hold what it once acknowledged.
        public static let damaged = Code(description: "damaged")
        /// What was asked for is no longer kept.
        public static let pruned = Code(description: "pruned")
        /// There is no room.
        public static let storageFull = Code(description: "storage-full")
        /// It belongs to another store, or its records do not fit this build's types.
        public static let misfit = Code(description: "misfit")
        /// It was removed or replaced while it was open. A start in its place would begin a new history.
        public static let removed = Code(description: "removed")
        /// The system says no: the message says to what.
        public static let inputOutput = Code(description: "input-output")
    }

    /// What a program acts on.
    public let code: Code
    /// What was expected, what came, and what to do.
    public let message: String
    /// What came, for a message that says itself where and what to do.
    package let reason: String

    /// Names a failure.
    public init(_ code: Code, _ message: String) {
        self.init(code, message, reason: message)
    }

    /// Names a failure, and the part of its message that says what is wrong.
    package init(_ code: Code, _ message: String, reason: String) {
        self.code = code
        self.message = message
        self.reason = reason
    }

    /// The message.
    public var description: String { message }
}
