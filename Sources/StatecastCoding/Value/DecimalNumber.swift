/// A number by its decimal digits, exactly: what a `Decimal` holds, and what tag 4 of CBOR holds.
///
/// The mantissa has no zeros at its end, so that equal numbers have one form.
struct DecimalNumber: Hashable {
    /// The tags of numbers: RFC 8949, sections 3.4.3 and 3.4.4.
    enum Tag {
        static let positive: UInt64 = 2
        static let negative: UInt64 = 3
        static let decimalFraction: UInt64 = 4
    }

    let isNegative: Bool
    let mantissa: UInt128
    /// The power of ten of the mantissa's last digit.
    let exponent: Int

    /// Enough for any number in use; small enough that sums of two cannot overflow.
    private static let exponents = -Int(Int32.max)...Int(Int32.max)

    /// - Returns: `nil` for an exponent beyond 32 bits.
    init?(isNegative: Bool, mantissa: UInt128, exponent: Int) {
        guard Self.exponents.contains(exponent) else { return nil }
        var (mantissa, exponent) = (mantissa, mantissa == 0 ? 0 : exponent)
        while mantissa != 0, mantissa.isMultiple(of: 10) {
            mantissa /= 10
            exponent += 1
        }
        self.isNegative = isNegative && mantissa != 0
        self.mantissa = mantissa
        self.exponent = exponent
    }

    /// Reads digits with an optional sign, fraction and exponent.
    ///
    /// - Returns: `nil` for anything else, and for a mantissa beyond 128 bits.
    init?(_ text: String) {
        var rest = text.utf8[...]
        let sign = rest.pop(oneOf: "-+")
        let whole = rest.popDigits()
        var fraction: [UInt8] = []
        if rest.pop(oneOf: ".") != nil {
            fraction = rest.popDigits()
            if fraction.isEmpty { return nil }
        }
        var exponent: Int32 = 0
        if rest.pop(oneOf: "eE") != nil {
            guard let written = Int32(Substring(rest)) else { return nil }
            (exponent, rest) = (written, rest[rest.endIndex...])
        }
        guard rest.isEmpty, !whole.isEmpty else { return nil }
        // Zeros at the end must not count against the bits of the mantissa.
        let digits = whole + fraction
        let zeros = digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        let significant = String(decoding: digits.dropLast(zeros), as: UTF8.self)
        guard let mantissa = significant.isEmpty ? 0 : UInt128(significant) else { return nil }
        self.init(
            isNegative: sign == UInt8(ascii: "-"),
            mantissa: mantissa,
            exponent: Int(exponent) - fraction.count + zeros
        )
    }

    /// The number that a value is: an integer, a float by its shortest digits, or tag 2, 3 or 4.
    ///
    /// - Returns: `nil` for anything else, for NaN and infinities, and for a mantissa beyond 128 bits.
    init?(_ tree: Value) {
        switch tree {
        case .float(let value):
            guard value.isFinite else { return nil }
            self.init("\(value)")
        case .tagged(Tag.decimalFraction, .array(let parts)):
            guard parts.count == 2, let mantissa = Self(integer: parts[1]) else { return nil }
            if case .float = parts[0] { return nil }
            guard let exponent = parts[0].integer(Int.self), Self.exponents.contains(exponent) else { return nil }
            self.init(
                isNegative: mantissa.isNegative,
                mantissa: mantissa.mantissa,
                exponent: exponent + mantissa.exponent
            )
        default: self.init(integer: tree)
        }
    }

    private init?(integer tree: Value) {
        switch tree {
        case .unsigned(let value): self.init(isNegative: false, mantissa: UInt128(value), exponent: 0)
        case .negative(let value): self.init(isNegative: true, mantissa: UInt128(value) + 1, exponent: 0)
        case .tagged(Tag.positive, .bytes(let bytes)):
            guard let magnitude = UInt128(bigEndian: bytes) else { return nil }
            self.init(isNegative: false, mantissa: magnitude, exponent: 0)
        case .tagged(Tag.negative, .bytes(let bytes)):
            // A negative number is -1 - n.
            guard let n = UInt128(bigEndian: bytes), n < .max else { return nil }
            self.init(isNegative: true, mantissa: n + 1, exponent: 0)
        default: return nil
        }
    }

    /// The number as a decimal fraction.
    var fraction: Value { .tagged(Tag.decimalFraction, [Value(exponent), integer]) }

    /// The mantissa with its sign, in the shortest form: a plain integer where 64 bits hold it.
    private var integer: Value {
        let magnitude = isNegative ? mantissa - 1 : mantissa
        if let value = UInt64(exactly: magnitude) { return isNegative ? .negative(value) : .unsigned(value) }
        let bytes = stride(from: 120, through: 0, by: -8).map { UInt8(truncatingIfNeeded: magnitude >> UInt128($0)) }
        return .tagged(isNegative ? Tag.negative : Tag.positive, .bytes(Array(bytes.drop { $0 == 0 })))
    }

    /// The most padding zeros before exponent notation is used.
    private static let maxZeros = 40

    /// The number as JSON writes it.
    var text: String {
        var digits = String(mantissa)
        let sign = isNegative ? "-" : ""
        if exponent > Self.maxZeros || exponent + digits.count < -Self.maxZeros {
            let leading = exponent + digits.count - 1
            if digits.count > 1 { digits.insert(".", at: digits.index(after: digits.startIndex)) }
            return "\(sign)\(digits)e\(leading < 0 ? "" : "+")\(leading)"
        }
        if exponent >= 0 { return sign + digits + String(repeating: "0", count: exponent) }
        digits = String(repeating: "0", count: max(0, 1 - exponent - digits.count)) + digits
        digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        return sign + digits
    }
}

extension Substring.UTF8View {
    /// Takes the first character out, if it is one of these in ASCII.
    mutating func pop(oneOf characters: String) -> UInt8? {
        guard let first, characters.utf8.contains(first) else { return nil }
        return popFirst()
    }

    /// Takes the digits at the beginning out.
    mutating func popDigits(max: Int? = nil) -> [UInt8] {
        let digits = prefix(max ?? count).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        self = self[digits.endIndex...]
        return Array(digits)
    }
}

extension UInt128 {
    /// - Returns: `nil` for a number beyond 128 bits.
    fileprivate init?(bigEndian bytes: [UInt8]) {
        let bytes = bytes.drop { $0 == 0 }
        guard bytes.count <= 16 else { return nil }
        self = bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }
}

extension Double {
    /// The nearest to an integer below those of 64 bits, or to a number in tag 2, 3 or 4.
    ///
    /// - Returns: `nil` for anything else, and for a number that a `Double` cannot hold.
    init?(nearest tree: Value) {
        switch tree {
        case .negative, .tagged: break
        default: return nil
        }
        guard let number = DecimalNumber(tree), let value = Double(number.text), value.isFinite else { return nil }
        self = value
    }
}
