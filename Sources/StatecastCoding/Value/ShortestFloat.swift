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
