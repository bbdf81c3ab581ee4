import StateCoding
import StateCore
import SyncProtocol

/// The fields of a decoded frame, by the names that the code gives them, each as it has to stand on the wire.
///
/// Compared with the names in the document's CDDL they show that a name stands where its value stands.
struct FrameFields {
    private(set) var values: [String: Value] = [:]

    init(of frame: Frame) throws {
        for case (_?, let content) in Mirror(reflecting: frame).children { try add(fieldsOf: content) }
    }

    init(of part: Any) throws { try add(fieldsOf: part) }

    private mutating func add(fieldsOf content: Any) throws {
        for case (let label?, let value) in Mirror(reflecting: content).children {
            if let rejection = value as? Rejection {
                values["code"] = .text(rejection.code.rawValue)
                values["message"] = .text(rejection.message)
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
        case let session as SessionID: .bytes(bytes(session.high) + bytes(session.low))
        case let quantity as any Quantity: .unsigned(quantity.rawValue)
        case let number as UInt64: .unsigned(number)
        case let count as Int: Value(count)
        case let duration as Duration: Value(duration.milliseconds)
        case let time as Timestamp: Value(time.milliseconds)
        case let text as String: .text(text)
        case let bytes as [UInt8]: .bytes(bytes)
        case let bytes as ArraySlice<UInt8>: .bytes(Array(bytes))
        case let outcome as Outcome: wire(outcome)
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

    private static func wire(_ outcome: Outcome) -> Value {
        switch outcome {
        case .applied(let revision): .unsigned(revision.rawValue)
        case .rejected(let rejection): [.text(rejection.code.rawValue), .text(rejection.message)]
        }
    }

    private static func bytes(_ bits: UInt64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }
}
