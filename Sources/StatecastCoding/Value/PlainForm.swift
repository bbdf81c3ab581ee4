#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What JSON shows of a value: tags and kinds that JSON does not have are resolved.
package enum PlainForm {
    case null
    case bool(Bool)
    /// The digits.
    case number(String)
    case text(String)
    case array([Value])
    case map(ValueMap)

    /// Resolves the outermost tags and kinds of a value.
    package init(_ value: Value) {
        switch value {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .unsigned(let value): self = .number(String(value))
        // The number is -1 - n; one more than n fits 64 bits in all cases but the last.
        case .negative(.max): self = .number("-18446744073709551616")
        case .negative(let n): self = .number("-\(n + 1)")
        // Swift prints the shortest digits that read back as the same number, always with a fraction or an exponent.
        case .float(let value): self = value.nonFiniteWord.map { .text($0) } ?? .number("\(value)")
        case .text(let value): self = .text(value)
        case .bytes(let value): self = .text(Base64.text(value))
        case .array(let value): self = .array(value)
        case .map(let value): self = .map(value)
        case .tagged(UUIDForm.tag, .bytes(let bytes)):
            self = UUIDForm.text(bytes).map { .text($0) } ?? Self(.bytes(bytes))
        case .tagged(DecimalNumber.Tag.positive...DecimalNumber.Tag.decimalFraction, let content):
            self = DecimalNumber(value).map { .number($0.text) } ?? Self(content)
        case .tagged(_, let content): self.init(content)
        }
    }
}

extension Double {
    /// The text that stands for a number that is not finite.
    var nonFiniteWord: String? {
        isFinite ? nil : isNaN ? "NaN" : self < 0 ? "-Infinity" : "Infinity"
    }

    /// The number that is not finite of a text.
    init?(nonFinite word: String) {
        switch word {
        case "NaN": self = .nan
        case "Infinity": self = .infinity
        case "-Infinity": self = -.infinity
        default: return nil
        }
    }
}

/// Base64 (RFC 4648, section 4), with padding.
package enum Base64 {
    package static func text(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }

    /// - Returns: `nil` if the text is not base64 with its padding, or if bits beyond the bytes are set.
    package static func bytes(_ text: String) -> [UInt8]? {
        guard let data = Data(base64Encoded: text), data.base64EncodedString() == text else { return nil }
        return Array(data)
    }
}

/// A UUID as 16 bytes in tag 37, and as text (RFC 9562, section 4), with the capitals in which Swift writes it.
enum UUIDForm {
    static let tag: UInt64 = 37

    /// - Returns: `nil` unless there are 16 bytes.
    static func text(_ bytes: [UInt8]) -> String? {
        guard bytes.count == 16 else { return nil }
        return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }).uuidString
    }

    /// - Returns: `nil` unless the text is five groups of 8, 4, 4, 4 and 12 hexadecimal digits.
    package static func bytes(_ text: String) -> [UInt8]? {
        UUID(uuidString: text).map { id in withUnsafeBytes(of: id.uuid) { Array($0) } }
    }
}

extension Value {
    /// The tag of a text that is a URI (RFC 8949, section 3.4.5.3).
    static let uriTag: UInt64 = 32
}

// MARK: Messages

extension Value {
    /// The value in words, for messages: `text "abc"`, `an array of 3`.
    package var summary: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .unsigned, .negative: "the integer \(plainText)"
        case .float: "the number \(plainText)"
        case .text(let value): "text \"\(value.beginning(40))\""
        case .bytes(let value): "\(value.count) bytes"
        case .array(let value): "an array of \(value.count)"
        case .map(let value): "a map of \(value.count)"
        case .tagged(let tag, let content): "tag \(tag) of \(content.summary)"
        }
    }

    /// A number as JSON has it: its digits, or the word in quotes for one that is not finite.
    private var plainText: String {
        switch PlainForm(self) {
        case .number(let digits): digits
        case .text(let word): "\"\(word)\""
        case .null, .bool, .array, .map: preconditionFailure("expected a number")
        }
    }
}

extension String {
    /// The first Unicode scalars, for messages. Not characters: one of these may be as long as a text can be.
    func beginning(_ count: Int) -> String {
        let start = unicodeScalars.prefix(count)
        return start.endIndex == endIndex ? self : String(start) + "..."
    }
}
