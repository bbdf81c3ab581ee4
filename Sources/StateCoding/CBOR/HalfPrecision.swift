/// IEEE 754 half precision, by hand: `Float16` does not exist on every platform that builds this.
enum HalfPrecision {
    /// The bits of a number that half precision holds exactly; `nil` for any other. NaN is not for here.
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
            // Subnormal: the leading one becomes explicit, and what is shifted out must be zero.
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
