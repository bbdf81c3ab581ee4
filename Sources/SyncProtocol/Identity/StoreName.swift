public import StateCore

/// The name of a store: 1 to 64 of the letters `a-z A-Z 0-9 . _ -`, so that it can stand in a topic as it is.
public struct StoreName: Hashable, Sendable, CustomStringConvertible, Comparable {
    /// The name itself.
    public let text: String

    /// The most bytes that a name may have.
    public static let bytesMax = 64

    /// Checks and wraps a name.
    ///
    /// - Throws: `Rejection` with code `malformed` that says which character or length is wrong.
    public init(_ text: String) throws(Rejection) {
        guard (1...Self.bytesMax).contains(text.utf8.count) else {
            throw Rejection(
                .malformed,
                "a store's name has 1 to \(Self.bytesMax) characters, \"\(text.prefix(80))\" has \(text.utf8.count)"
            )
        }
        for character in text.unicodeScalars where !Self.isAllowed(character) {
            throw Rejection(
                .malformed,
                "a store's name is made of a-z A-Z 0-9 . _ and -, \"\(text)\" has \"\(character)\""
            )
        }
        self.text = text
    }

    /// `nil` unless the bytes are a well-formed name.
    init?(utf8 bytes: ArraySlice<UInt8>) {
        guard (1...Self.bytesMax).contains(bytes.count),
            bytes.allSatisfy({ Self.isAllowed(Unicode.Scalar($0)) })
        else { return nil }
        text = String(decoding: bytes, as: UTF8.self)
    }

    private static func isAllowed(_ character: Unicode.Scalar) -> Bool {
        switch character {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }

    /// The name itself.
    public var description: String { text }

    /// Orders by the text.
    public static func < (left: Self, right: Self) -> Bool { left.text < right.text }
}
