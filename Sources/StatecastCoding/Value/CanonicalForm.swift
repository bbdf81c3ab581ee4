#if canImport(Darwin)
    import Foundation
#else
    @_spi(_Unicode) internal import Swift
#endif

extension String {
    /// The text in Unicode normalization form C, in which keys travel and digests are made.
    ///
    /// Swift compares strings by canonical equivalence, so two spellings of one key are one key in a `Dictionary`; on
    /// the wire they must be one sequence of bytes.
    var canonical: String {
        // Every scalar below U+0300, whose UTF-8 starts with 0xCC, is in form C already: nearly all texts end here.
        if utf8.withContiguousStorageIfAvailable({ $0.isASCII || $0.allSatisfy { $0 < 0xCC } }) == true { return self }
        #if canImport(Darwin)
            return precomposedStringWithCanonicalMapping
        #else
            var result = String.UnicodeScalarView()
            for scalar in withoutCompositeMarks._nfc { result.append(scalar) }
            return String(result)
        #endif
    }

    #if !canImport(Darwin)
        /// The text with two marks in place of each mark that consists of two and has no combining class of its own.
        /// The standard library does not order their parts among the other marks.
        private var withoutCompositeMarks: String {
            func parts(_ scalar: Unicode.Scalar) -> String? {
                switch scalar.value {
                case 0xF73: "\u{F71}\u{F72}"
                case 0xF75: "\u{F71}\u{F74}"
                case 0xF81: "\u{F71}\u{F80}"
                default: nil
                }
            }
            guard unicodeScalars.contains(where: { parts($0) != nil }) else { return self }
            var result = String.UnicodeScalarView()
            for scalar in unicodeScalars {
                if let parts = parts(scalar) { result += parts.unicodeScalars } else { result.append(scalar) }
            }
            return String(result)
        }
    #endif
}

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
    func precedes(_ other: Value) -> Bool { order(other) < 0 }

    /// How the encodings of two canonical values compare, without making them: below, at or above zero.
    ///
    /// The encoding of an integer or a length grows with it, and no encoding is the beginning of another one, so that
    /// containers compare part by part.
    func order(_ other: Value) -> Int {
        switch (self, other) {
        // By their bytes: to compare strings that are not ASCII, the standard library normalizes them.
        case (.text(let left), .text(let right)): return Int(byteOrder(left.utf8, right.utf8))
        case (.unsigned(let left), .unsigned(let right)): return Self.order(left, right)
        case (.negative(let left), .negative(let right)): return Self.order(left, right)
        case (.bytes(let left), .bytes(let right)):
            if left.count != right.count { return Self.order(left.count, right.count) }
            return zip(left, right).lazy.map(Self.order).first { $0 != 0 } ?? 0
        case (.array(let left), .array(let right)):
            if left.count != right.count { return Self.order(left.count, right.count) }
            return zip(left, right).lazy.map { $0.order($1) }.first { $0 != 0 } ?? 0
        case (.map(let left), .map(let right)):
            if left.count != right.count { return Self.order(left.count, right.count) }
            for (left, right) in zip(left, right) {
                let order = left.key.order(right.key)
                if order != 0 { return order }
                let content = left.value.order(right.value)
                if content != 0 { return content }
            }
            return 0
        case (.tagged(let left, let leftContent), .tagged(let right, let rightContent)):
            return left == right ? leftContent.order(rightContent) : Self.order(left, right)
        default:
            let (left, right) = (majorType, other.majorType)
            if left != right { return Self.order(left, right) }
            // The remaining kinds have major type 7.
            let (head, otherHead) = (simpleHead, other.simpleHead)
            return head < otherHead ? -1 : head == otherHead ? 0 : 1
        }
    }

    private static func order<C: Comparable>(_ left: C, _ right: C) -> Int { left < right ? -1 : left == right ? 0 : 1 }

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

    /// The encoding of a value of major type 7, which has one precision for each first byte.
    private var simpleHead: (first: UInt8, bits: UInt64) {
        switch self {
        case .bool(let value): return (value ? 0xF5 : 0xF4, 0)
        case .float(let value):
            let shortest = ShortestFloat(value)
            return (shortest.first, shortest.bits)
        default: return (0xF6, 0)
        }
    }
}
