import StateCoding
import StateJSON

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
