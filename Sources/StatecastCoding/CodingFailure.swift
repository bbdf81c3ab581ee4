/// An error of encoding, decoding, parsing, or of applying a patch.
///
/// `message` names the expected and the actual value; `path` names the field by the user's own keys (`hosts`, `alpha`,
/// `load`), `offset` the byte in the input. Both are empty if they are unknown.
public struct CodingFailure: Error, Hashable, Sendable {
    /// The kind of a failure. Opaque, so that a new kind breaks no `switch`.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code as it is written in messages and logs.
        public let description: String

        /// The input ends in the middle of an item.
        public static let truncated = Code(description: "truncated")
        /// The bytes or characters violate the format.
        public static let malformed = Code(description: "malformed")
        /// More follows where the input should have ended.
        public static let trailingBytes = Code(description: "trailing-bytes")
        /// Nested deeper than `CodingLimits.maxDepth`.
        public static let tooDeep = Code(description: "too-deep")
        /// A length or count exceeds the input.
        public static let tooLarge = Code(description: "too-large")
        /// A text is not valid UTF-8, holds a lone surrogate, or more combining marks in a row than
        /// ``CodingLimits/maxCombiningMarks``.
        public static let invalidText = Code(description: "invalid-text")
        /// A map holds one key twice.
        public static let duplicateKey = Code(description: "duplicate-key")
        /// A value of another kind than the one asked for.
        public static let typeMismatch = Code(description: "type-mismatch")
        /// A number that the type asked for cannot hold.
        public static let outOfRange = Code(description: "out-of-range")
        /// A required key is absent.
        public static let missingKey = Code(description: "missing-key")
        /// An unknown key, in strict decoding: where no field may be lost.
        public static let unknownKey = Code(description: "unknown-key")
        /// A required value is null, or a list ended too early.
        public static let missingValue = Code(description: "missing-value")
        /// The type itself refused a value of the right kind.
        public static let refusedByType = Code(description: "refused-by-type")
        /// A patch does not fit the value it is applied to.
        public static let patchMismatch = Code(description: "patch-mismatch")
        /// A value has no encoding here.
        public static let unencodable = Code(description: "unencodable")
    }

    /// The kind of the failure.
    public let code: Code
    /// The expected and the actual value, in words.
    public let message: String
    /// The coding path of the field, outermost first. Indexes are written as numbers.
    public var path: [String]
    /// The byte offset in the input.
    public var offset: Int?

    /// A failure, with its place if it is known.
    public init(_ code: Code, _ message: String, path: [String] = [], offset: Int? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.offset = offset
    }

    /// The same failure, with a key before its path.
    package func inside(_ component: String) -> CodingFailure {
        var failure = self
        failure.path.insert(component, at: 0)
        return failure
    }
}

extension CodingFailure: CustomStringConvertible {
    /// Place and message in one line: `step: expected an integer, got text "abc"`.
    public var description: String {
        let place = path.isEmpty ? "" : path.joined(separator: ".") + ": "
        let position = offset.map { " (at byte \($0))" } ?? ""
        return place + message + position
    }
}
