/// Any CBOR value (RFC 8949, section 2): the untyped form of a state, an action or a part of one.
///
/// Two values are equal when they mean the same: texts by canonical equivalence, `-0.0` and `0.0`, and `NaN` equals
/// itself. `unsigned(1)` and `float(1)` differ, as they differ on the wire.
public enum Value: Sendable {
    case null
    case bool(Bool)
    /// 0 and above.
    case unsigned(UInt64)
    /// The integer -1 - n, as CBOR counts: `negative(0)` is -1.
    case negative(UInt64)
    case float(Double)
    case text(String)
    case bytes([UInt8])
    case array([Value])
    case map(ValueMap)
    /// A value with a CBOR tag, which says how to read it.
    indirect case tagged(UInt64, Value)
}

extension Value: Hashable {
    /// Whether both mean the same.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.negative(let left), .negative(let right)): left == right
        case (.float(let left), .float(let right)): left == right || (left.isNaN && right.isNaN)
        case (.text(let left), .text(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.map(let left), .map(let right)): left == right
        case (.tagged(let left, let leftContent), .tagged(let right, let rightContent)):
            left == right && leftContent == rightContent
        default: false
        }
    }

    /// Equal values hash alike, however they are spelt.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .unsigned(let value): hasher.combine(value)
        case .negative(let value): hasher.combine(~value)
        case .float(let value): hasher.combine(value.isNaN ? Double.nan : value)
        case .text(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .array(let value): hasher.combine(value)
        case .map(let value): hasher.combine(value)
        case .tagged(let tag, let content):
            hasher.combine(tag)
            hasher.combine(content)
        }
    }
}

extension Value {
    /// An integer of any type, as CBOR keeps it.
    public init(_ integer: some BinaryInteger) {
        if let unsigned = UInt64(exactly: integer) {
            self = .unsigned(unsigned)
        } else if let signed = Int64(exactly: integer) {
            self = .negative(UInt64(bitPattern: ~signed))
        } else {
            self = .float(Double(integer))
        }
    }
}

/// There is no `nil` literal: for a `Value?` it would be ambiguous between an absent value and `.null`.
extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self.init(value) }
    /// A float, even if integral: `1.0`.
    public init(floatLiteral value: Double) { self = .float(value) }
    /// A text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// An array.
    public init(arrayLiteral elements: Value...) { self = .array(elements) }
    /// A map; a later entry replaces an earlier one with the same key.
    public init(dictionaryLiteral elements: (Value, Value)...) { self = .map(ValueMap(elements)) }
}
