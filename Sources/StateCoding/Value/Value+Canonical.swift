extension Value {
    /// The one form of all values that are equal: texts in NFC, zero without a sign. (NaN has one form on the wire.)
    var canonical: Value {
        switch self {
        case .null, .bool, .unsigned, .negative, .bytes: self
        case .float(let value): value == 0 ? .float(0) : self
        case .text(let value): .text(value.canonical)
        case .array(let elements): .array(elements.map(\.canonical))
        case .map(let map): .map(map.mapValues(\.canonical))
        case .tagged(let tag, let content): .tagged(tag, content.canonical)
        }
    }

    /// Whether a canonical key comes before another one: bytewise by their encodings (RFC 8949, section 4.2.1).
    ///
    /// The usual keys are compared without encoding them: the encoding of an integer or a length grows with it, and
    /// texts in NFC compare in Swift as their UTF-8 does.
    func precedes(_ other: Value) -> Bool {
        switch (self, other) {
        case (.text(let left), .text(let right)):
            let (leftCount, rightCount) = (left.utf8.count, right.utf8.count)
            return leftCount == rightCount ? left < right : leftCount < rightCount
        case (.unsigned(let left), .unsigned(let right)): return left < right
        case (.negative(let left), .negative(let right)): return left < right
        case (.bytes(let left), .bytes(let right)):
            return left.count == right.count ? left.lexicographicallyPrecedes(right) : left.count < right.count
        default:
            let (left, right) = (majorType, other.majorType)
            return left == right ? encoded.lexicographicallyPrecedes(other.encoded) : left < right
        }
    }

    /// The value in CBOR, deterministically.
    public var encoded: [UInt8] {
        var writer = CBORWriter()
        writer.value(self)
        return writer.bytes
    }

    private var majorType: UInt8 {
        switch self {
        case .unsigned: 0
        case .negative: 1
        case .bytes: 2
        case .text: 3
        case .array: 4
        case .map: 5
        case .tagged: 6
        case .null, .bool, .float: 7
        }
    }
}
