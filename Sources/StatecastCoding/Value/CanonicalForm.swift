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

/// The order of the encodings of two texts, which begin with their lengths: below, at or above zero.
func byteOrder(_ left: String.UTF8View, _ right: String.UTF8View) -> Int32 {
    if left.count != right.count { return left.count < right.count ? -1 : 1 }
    let order = left.withContiguousStorageIfAvailable { left in
        right.withContiguousStorageIfAvailable { right -> Int32 in
            guard let leftBase = left.baseAddress, let rightBase = right.baseAddress else { return 0 }
            return byteOrder(leftBase, rightBase, left.count)
        }
    }
    if let order, let order { return order }
    return left.elementsEqual(right) ? 0 : left.lexicographicallyPrecedes(right) ? -1 : 1
}

// MARK: Floats

/// A number in the shortest of half, single and double precision that keeps it, as CBOR has it.
struct ShortestFloat {
    /// The first byte of its encoding: `f9`, `fa` or `fb`.
    let first: UInt8
    /// The number in that precision, which follows the first byte.
    let bits: UInt64

    /// Every NaN becomes `f97e00`.
    init(_ value: Double) {
        let single = Float(value)
        if value.isNaN {
            (first, bits) = (0xF9, 0x7E00)
        } else if Double(single) != value {
            (first, bits) = (0xFB, value.bitPattern)
        } else if let half = HalfPrecision.bits(exactly: single) {
            (first, bits) = (0xF9, UInt64(half))
        } else {
            (first, bits) = (0xFA, UInt64(single.bitPattern))
        }
    }

    /// The number of bytes after the first one.
    var byteCount: Int { 2 << Int(first - 0xF9) }
}

/// IEEE 754 half precision. `Float16` does not exist on every supported platform.
enum HalfPrecision {
    /// The bits of a number that half precision holds exactly; `nil` for any other.
    ///
    /// - Precondition: The number is not NaN.
    static func bits(exactly value: Float) -> UInt16? {
        let bits = value.bitPattern
        let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
        let exponent = Int((bits >> 23) & 0xFF) - 127
        let significand = bits & 0x7F_FFFF
        switch exponent {
        case 128: return significand == 0 ? sign | 0x7C00 : nil
        case -14...15:
            guard significand & 0x1FFF == 0 else { return nil }
            return sign | UInt16(exponent + 15) << 10 | UInt16(significand >> 13)
        case -24 ..< -14:
            // Subnormal: the leading one becomes explicit, and the bits that are shifted out must be zero.
            let shift = UInt32(-exponent - 1)
            let full = significand | 0x80_0000
            guard full & ((1 << shift) - 1) == 0 else { return nil }
            return sign | UInt16(full >> shift)
        default: return bits & 0x7FFF_FFFF == 0 ? sign : nil
        }
    }

    static func value(bits: UInt16) -> Double {
        let exponent = Int((bits >> 10) & 0x1F)
        let significand = Double(bits & 0x3FF)
        let magnitude: Double =
            switch exponent {
            case 0: significand * 0x1p-24
            case 31: significand == 0 ? .infinity : .nan
            default: Double(sign: .plus, exponent: exponent - 15, significand: 1 + significand * 0x1p-10)
            }
        return bits & 0x8000 == 0 ? magnitude : -magnitude
    }
}
