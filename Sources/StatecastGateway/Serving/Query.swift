import StatecastCoding
import StatecastJSON
import StatecastJournal
import StatecastProtocol

/// The parameters of a request. Those that its route does not know are refused.
struct Query {
    private let values: [String: String]
    /// As sent.
    private let raw: [String: String]

    /// - Throws: ``GatewayFailure``.
    init(_ text: String?, known: Set<String>) throws {
        var (values, raw): ([String: String], [String: String]) = ([:], [:])
        for pair in (text ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                throw GatewayFailure(.badRequest, "the query has a % without two hexadecimal digits, or is not UTF-8")
            }
            guard known.contains(name) else {
                let hint = name.nearest(among: known).map { "; did you mean \($0)?" } ?? ""
                throw GatewayFailure(.badRequest, "there is no parameter \"\(name)\" here\(hint)")
            }
            guard values[name] == nil else { throw GatewayFailure(.badRequest, "the parameter \(name) is there twice") }
            (values[name], raw[name]) = (value, parts.count > 1 ? String(parts[1]) : "")
        }
        (self.values, self.raw) = (values, raw)
    }

    /// Percent-encoded text, in which `+` is a space, as forms write it.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let digits = String(rest.prefix(2)), digits.allSatisfy(\.isHexDigit),
                    let value = UInt8(digits, radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    func text(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    func number<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws -> Number? {
        guard let text = text(name) else { return nil }
        guard let number = Number(text), range.contains(number) else {
            throw GatewayFailure(
                .badRequest,
                "expected a number from \(range.lowerBound) to \(range.upperBound) for \(name), got \"\(text)\""
            )
        }
        return number
    }

    /// Whether a parameter is 1; 0 by default.
    func flag(_ name: String) throws -> Bool { try number(name, in: 0...1) == 1 }

    func revision(_ name: String) throws -> Revision? {
        try number(name, in: 0...UInt64(Int64.max)).map { Revision($0) }
    }

    /// The path of a parameter, the root by default.
    func path(_ name: String = "path") throws -> [String] { try Self.path(values[name] ?? "") }

    private static func path(_ text: String) throws -> [String] {
        guard text.utf8.count <= GatewayLimits.maxPathBytes else {
            throw GatewayFailure(
                .badRequest,
                "a path has at most \(GatewayLimits.maxPathBytes) bytes, got \(text.utf8.count)"
            )
        }
        guard let path = JSONPointer.components(of: text) else {
            throw GatewayFailure(.badRequest, "expected a JSON Pointer such as /hosts/web-1, got \"\(text)\"")
        }
        return path
    }

    /// The paths of a stream: pointers, encoded one by one and separated by commas. `nil` without the parameter.
    func paths(_ name: String) throws -> [[String]]? {
        guard let text = raw[name] else { return nil }
        let pointers = text.split(separator: ",", omittingEmptySubsequences: false)
        guard pointers.count <= GatewayLimits.maxPaths else {
            throw GatewayFailure(
                .badRequest,
                "a stream has at most \(GatewayLimits.maxPaths) paths, got \(pointers.count)"
            )
        }
        return try pointers.map { pointer in
            guard let decoded = Self.decoded(pointer) else {
                throw GatewayFailure(.badRequest, "\(pointer) is not encoded")
            }
            return try Self.path(decoded)
        }
    }

    func actionID(_ name: String) throws -> RecordedAction.ID? {
        guard let text = text(name) else { return nil }
        guard let id = RecordedAction.ID(text) else {
            throw GatewayFailure(
                .badRequest,
                "expected the id of an action, such as 812.0, for \(name), got \"\(text)\""
            )
        }
        return id
    }
}
