/// The way to a part of a JSON document (RFC 6901).
struct JSONPointer: Hashable {
    /// Unescaped; none for the whole document.
    let tokens: [String]

    init(tokens: [String]) {
        self.tokens = tokens
    }

    /// - Throws: `malformed`.
    init(_ text: String) throws(CodingFailure) {
        var parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.removeFirst().isEmpty else {
            throw CodingFailure(.malformed, "expected a pointer to start with \"/\", got \(Value.text(text).summary)")
        }
        var tokens: [String] = []
        tokens.reserveCapacity(parts.count)
        for part in parts { tokens.append(try Self.unescaped(part)) }
        self.tokens = tokens
    }

    private static func unescaped(_ token: Substring) throws(CodingFailure) -> String {
        guard token.utf8.contains(UInt8(ascii: "~")) else { return String(token) }
        var result: [UInt8] = []
        var rest = token.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else {
                result.append(byte)
                continue
            }
            switch rest.popFirst() {
            case UInt8(ascii: "0"): result.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): result.append(UInt8(ascii: "/"))
            default:
                throw CodingFailure(
                    .malformed,
                    "expected ~0 or ~1 in a pointer, got \(Value.text(String(token)).summary)"
                )
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// A token with its reference's slash in front, to be appended to a pointer's text.
    static func escaped(_ token: String) -> String {
        var result = "/"
        for scalar in token.unicodeScalars {
            switch scalar {
            case "~": result += "~0"
            case "/": result += "~1"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whether the other pointer leads to a part within this one.
    func contains(_ other: JSONPointer) -> Bool {
        other.tokens.count > tokens.count && other.tokens.starts(with: tokens)
    }

    /// The index that a token is: digits without a leading zero.
    static func index(_ token: String) -> Int? {
        let digits = token.utf8
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return Int(token)
    }
}
