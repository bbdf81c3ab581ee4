#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A byte string, as `[UInt8]` is.
extension Data: TreeReader {
    var tree: Value { .bytes(withUnsafeBytes { [UInt8]($0) }) }

    /// Accepts a byte string, and the forms of JSON: base64, or an array of numbers.
    init?(tree: Value) {
        switch tree {
        case .bytes(let bytes): self.init(bytes)
        case .text(let text):
            guard let bytes = Base64.bytes(text) else { return nil }
            self.init(bytes)
        case .array(let elements):
            let bytes = elements.compactMap { $0.integer(UInt8.self) }
            guard bytes.count == elements.count else { return nil }
            self.init(bytes)
        case .tagged(_, let content): self.init(tree: content)
        default: return nil
        }
    }

    // Without an array in between.
    func write(to writer: inout CBORWriter) { withUnsafeBytes { writer.bytes($0) } }

    static func readUsual(_ cursor: inout ItemCursor) -> Data? {
        cursor.readBytes { bytes in bytes.baseAddress.map { Data(bytes: $0, count: bytes.count) } ?? Data() }
    }

    static var sample: Data { Data() }
    static var expected: String { "bytes (or base64 text)" }
}

/// Seconds since 2001 as a plain float, as in the type's own coding. That is the number that a date holds; seconds
/// since 1970 would round half of all dates near the present. The text of RFC 3339 is accepted where JSON has no other
/// form.
extension Date: TreeReader {
    var tree: Value { .float(timeIntervalSinceReferenceDate) }

    init?(tree: Value) {
        switch tree {
        case .text(let text):
            guard let seconds = Double(nonFinite: text) ?? InternetTime.secondsSince2001(text) else { return nil }
            self.init(timeIntervalSinceReferenceDate: seconds)
        case .unsigned, .negative, .float:
            guard let seconds = Double(tree: tree) else { return nil }
            self.init(timeIntervalSinceReferenceDate: seconds)
        default: return nil
        }
    }

    func write(to writer: inout CBORWriter) { writer.float(timeIntervalSinceReferenceDate) }

    func write(to output: EncodingOutput, at place: CodingPath) {
        guard output.contents.pointee.datesAreText, case let text = formatted(.iso8601), Date(tree: .text(text)) == self
        else { return write(to: &output.writer) }
        output.writer.text(text)
    }

    static func readUsual(_ cursor: inout ItemCursor) -> Date? {
        cursor.readFloat().map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    static var sample: Date { Date(timeIntervalSinceReferenceDate: 0) }
    static var expected: String { "a date (seconds since 2001, or a text as in RFC 3339)" }
}

/// Tag 4 of exponent and mantissa (RFC 8949, section 3.4.4), without trailing zeros in the mantissa, so that equal
/// decimals have one encoding: 1, 1.0 and 100e-2 are `4([0, 1])`. NaN is a float.
extension Decimal: TreeReader {
    var tree: Value {
        guard !isNaN else { return .float(.nan) }
        guard let number = DecimalNumber(self) else { preconditionFailure("a Decimal has digits, got \(self)") }
        return number.fraction
    }

    /// Accepts any number that a `Decimal` holds exactly, a float by its shortest digits, and digits as text.
    init?(tree: Value) {
        switch tree {
        case .float(let value) where value.isNaN: self = .nan
        case .text(let text):
            if Double(nonFinite: text)?.isNaN == true {
                self = .nan
            } else {
                self.init(exactly: DecimalNumber(text))
            }
        case .tagged(DecimalNumber.Tag.positive...DecimalNumber.Tag.decimalFraction, _), .unsigned, .negative, .float:
            self.init(exactly: DecimalNumber(tree))
        case .tagged(_, let content): self.init(tree: content)
        default: return nil
        }
    }

    private init?(exactly number: DecimalNumber?) {
        // Powers of ten beyond the exponent's range become zeros in the mantissa, which has at most 39 digits.
        guard let number, (-128...(127 + 39)).contains(number.exponent) else { return nil }
        let exponent = min(number.exponent, 127)
        let zeros = String(repeating: "0", count: number.exponent - exponent)
        let value = Decimal(string: "\(number.isNegative ? "-" : "")\(number.mantissa)\(zeros)e\(exponent)")
        // Foundation rounds numbers that do not fit.
        guard let value, DecimalNumber(value) == number else { return nil }
        self = value
    }

    static var sample: Decimal { 0 }
    static var expected: String { "a decimal number of at most 38 digits" }
}

extension DecimalNumber {
    /// - Returns: `nil` for NaN.
    fileprivate init?(_ decimal: Decimal) {
        guard let significand = DecimalNumber(decimal.significand.description) else { return nil }
        self.init(
            isNegative: decimal < 0,
            mantissa: significand.mantissa,
            exponent: decimal.exponent + significand.exponent
        )
    }
}

/// Tag 32 of the text.
///
/// A URL that is relative to another one differs, by its `==`, from the absolute one that both make; it is a map of the
/// two texts, under the keys that its own coding uses.
extension URL: TreeReader {
    private static let (base, relative) = ("base", "relative")

    var tree: Value {
        guard let baseURL else { return Self.tree(relativeString) }
        return [.text(Self.base): Self.tree(baseURL.absoluteString), .text(Self.relative): .text(relativeString)]
    }

    private static func tree(_ text: String) -> Value { .tagged(Value.uriTag, .text(text)) }

    init?(tree: Value) {
        switch tree {
        case .text(let text): self.init(string: text)
        case .tagged(_, let content): self.init(tree: content)
        case .map:
            guard let text = tree[Self.relative]?.untagged.textValue else { return nil }
            guard let base = tree[Self.base] else {
                self.init(string: text)
                return
            }
            guard let baseURL = URL(tree: base) else { return nil }
            self.init(string: text, relativeTo: baseURL)
        default: return nil
        }
    }

    static func readUsual(_ cursor: inout ItemCursor) -> URL? {
        var next = cursor
        guard next.skipTag(Value.uriTag), let url = next.readText().flatMap({ URL(string: $0) }) else { return nil }
        cursor = next
        return url
    }

    static var sample: URL { URL(filePath: "/") }
    static var expected: String { "a URL as text" }
}

/// Tag 37 of the 16 bytes, which are half as long as the text.
extension UUID: TreeReader {
    var tree: Value { .tagged(UUIDForm.tag, .bytes(withUnsafeBytes(of: uuid) { Array($0) })) }

    init?(tree: Value) {
        switch tree {
        case .bytes(let bytes):
            guard bytes.count == 16 else { return nil }
            self.init(bytes)
        case .text(let text):
            guard let bytes = UUIDForm.bytes(text) else { return nil }
            self.init(bytes)
        case .tagged(_, let content): self.init(tree: content)
        default: return nil
        }
    }

    /// - Precondition: there are 16 bytes.
    private init(_ bytes: [UInt8]) {
        self.init(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
    }

    static func readUsual(_ cursor: inout ItemCursor) -> UUID? {
        var next = cursor
        guard next.skipTag(UUIDForm.tag), let bytes = next.readBytes(), bytes.count == 16 else { return nil }
        cursor = next
        return UUID(bytes)
    }

    static var sample: UUID { UUID([UInt8](repeating: 0, count: 16)) }
    static var expected: String { "a UUID (as text, or 16 bytes)" }
}

protocol TreeReader: Primitive {}

extension TreeReader {
    static var readsTrees: Bool { true }
}
