import StatecastCoding
import StatecastCore
import StatecastJSON
import StatecastProtocol

/// The part of the document's CDDL (RFC 8610) that names an array's elements.
struct Grammar {
    private var bodies: [String: String] = [:]

    init(_ blocks: [ProtocolDocument.Block]) {
        var rule = ""
        for line in blocks.flatMap(\.lines) {
            let line = line.prefix { $0 != ";" }
            if line.first?.isLetter == true, let equals = line.firstIndex(of: "=") {
                rule = line[..<equals].filter { $0 != " " }
                bodies[rule] = String(line[line.index(after: equals)...])
            } else {
                bodies[rule, default: ""] += line
            }
        }
    }

    /// The element names of the rule `rule = [...]`, in order; elements without a name are left out.
    func names(of rule: String) -> [String] {
        var (depth, element, elements) = (0, "", [String]())
        for character in bodies[rule, default: ""] {
            if "]})".contains(character) { depth -= 1 }
            if character == ",", depth == 1 {
                elements.append(element)
                element = ""
            } else if depth > 0 {
                element.append(character)
            }
            if "[{(".contains(character) { depth += 1 }
        }
        return (elements + [element]).compactMap { element in
            let name = element.prefix { !":[{(".contains($0) }
            guard name.endIndex < element.endIndex, element[name.endIndex] == ":" else { return nil }
            return name.filter { !$0.isWhitespace }
        }
    }
}

/// The fields of a decoded frame, by their names in the code, each in its form on the wire.
///
/// A comparison with the names in the document's CDDL shows that each name is at the position of its value.
struct FrameFields {
    private(set) var values: [String: Value] = [:]

    init(of frame: AnyFrame) throws {
        switch frame {
        case .published(let frame): try add(fieldsOf: frame)
        case .pushed(let frame, let secret):
            try add(fieldsOf: frame.header)
            // Not an element of its own: the count of the array.
            values["count"] = nil
            values["actions"] = .array(frame.contents.map { .bytes($0) })
            // The secret stands for the session.
            values["session"] = nil
            values["secret"] = .bytes(Self.bytes(secret.high) + Self.bytes(secret.low))
        }
    }

    private mutating func add(fieldsOf frame: Frame) throws {
        for case (_?, let content) in Mirror(reflecting: frame).children { try add(fieldsOf: content) }
    }

    init(of part: Any) throws { try add(fieldsOf: part) }

    private mutating func add(fieldsOf content: Any) throws {
        for case (let label?, let value) in Mirror(reflecting: content).children {
            if let rejection = value as? Rejection {
                values["code"] = .text(rejection.code.rawValue)
                values["message"] = .text(rejection.message)
            } else if let outcomes = value as? OutcomeRuns {
                values["first"] = .unsigned(outcomes.start.rawValue)
                values["outcomes"] = .array(outcomes.runs.map(Self.wire))
            } else if label == "patch" || label == "example", let bytes = value as? [UInt8] {
                values[label] = try Value(decoding: bytes)
            } else {
                values[label] = try Self.wire(value)
            }
        }
    }

    private static func wire(_ value: Any) throws -> Value {
        switch value {
        case let lineage as Lineage: .bytes(bytes(lineage.bits))
        case let quantity as any Quantity: .unsigned(quantity.rawValue)
        case let number as UInt64: .unsigned(number)
        case let count as Int: Value(count)
        case let duration as Duration: Value(duration.milliseconds)
        case let time as Timestamp: Value(time.milliseconds)
        case let text as String: .text(text)
        case let bytes as [UInt8]: .bytes(bytes)
        case let bytes as ArraySlice<UInt8>: .bytes(Array(bytes))
        default: try composite(value)
        }
    }

    private static func composite(_ value: Any) throws -> Value {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            return try mirror.children.first.map { try wire($0.value) } ?? .null
        }
        return .array(
            try mirror.children.map { child in
                if child.label == "example", let bytes = child.value as? [UInt8] { return try Value(decoding: bytes) }
                return try wire(child.value)
            }
        )
    }

    private static func wire(_ run: OutcomeRun) -> Value {
        let count = run.count == 1 ? [] : [Value(run.count)]
        switch run.outcome {
        case .applied(let revision):
            let revision = Value.unsigned(revision.rawValue)
            return count.isEmpty ? revision : .array(count + [revision])
        case .rejected(let rejection):
            return .array(count + [.text(rejection.code.rawValue), .text(rejection.message)])
        }
    }

    private static func bytes(_ bits: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }
}

/// CBOR in diagnostic notation (RFC 8949, section 8).
enum Diagnostic {
    static func text(_ value: Value) -> String {
        switch value {
        case .null, .bool, .unsigned, .negative, .text: JSON.text(of: value)
        case .float(let number):
            number.isFinite ? "\(number)" : number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity"
        case .bytes(let bytes): "h'\(bytes.map(hex).joined())'"
        case .array(let elements): "[\(elements.map(text).joined(separator: ", "))]"
        case .map(let map): "{\(map.map { "\(text($0.key)): \(text($0.value))" }.joined(separator: ", "))}"
        case .tagged(let tag, let content): "\(tag)(\(text(content)))"
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }
}
