/// Why a machine could not be sampled.
public struct HostSamplingFailure: Error, Equatable, CustomStringConvertible {
    /// What kind of failure it is.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as one word.
        public let description: String

        /// A file or a kernel facility could not be read.
        public static let unreadable = Code(description: "unreadable")
        /// A file does not say what it should.
        public static let unparsable = Code(description: "unparsable")
    }

    /// What kind of failure it is.
    public let code: Code
    /// The file, or the kernel facility, that was asked.
    public let source: String
    /// What was expected, and what came.
    public let message: String

    /// The failure as one line.
    public var description: String { "\(code): \(source): \(message)" }
}
