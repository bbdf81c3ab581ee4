extension DecimalNumber {
    /// The tags of numbers: RFC 8949, sections 3.4.3 and 3.4.4.
    enum Tag {
        static let positive: UInt64 = 2
        static let negative: UInt64 = 3
        static let decimalFraction: UInt64 = 4
    }

    /// The number that a value is, of whatever kind; a float by its shortest digits.
    ///
    /// - Returns: `nil` for anything else, for NaN and infinities, and for numbers too long to be handled.
    init?(_ tree: Value) {
        switch tree {
        case .unsigned, .tagged(Tag.positive, _), .negative, .tagged(Tag.negative, _): self.init(integer: tree)
        case .float(let value):
            guard value.isFinite else { return nil }
            self.init("\(value)")
        case .tagged(Tag.decimalFraction, .array(let parts)):
            guard parts.count == 2, let exponent = parts[0].exactInteger, let mantissa = Self(integer: parts[1]),
                Self.exponents.contains(exponent)
            else { return nil }
            self.init(
                isNegative: mantissa.isNegative,
                digits: mantissa.digits,
                exponent: exponent + mantissa.exponent
            )
        default: return nil
        }
    }

    private init?(integer tree: Value) {
        let digits: [UInt8]? =
            switch tree {
            case .unsigned(let value): Self.digits(value)
            case .negative(.max): BigNumber.digits([1] + [UInt8](repeating: 0, count: 8))
            case .negative(let n): Self.digits(n + 1)
            case .tagged(Tag.positive, .bytes(let bytes)): BigNumber.digits(bytes)
            case .tagged(Tag.negative, .bytes(let bytes)): BigNumber.digits(BigNumber.incremented(bytes))
            default: nil
            }
        guard let digits else { return nil }
        let isNegative =
            switch tree {
            case .negative, .tagged(Tag.negative, _): true
            default: false
            }
        self.init(isNegative: isNegative, digits: digits, exponent: 0)
    }

    private static func digits(_ value: UInt64) -> [UInt8] {
        String(value).utf8.map { $0 - UInt8(ascii: "0") }
    }

    /// The number as a decimal fraction.
    var fraction: Value {
        .tagged(Tag.decimalFraction, [Value(exponent), Self.integer(isNegative, digits)])
    }

    /// The number as an integer; `nil` if it is none, or too long.
    var integer: Value? {
        guard exponent >= 0, digits.count + exponent <= BigNumber.digitsMax else { return nil }
        return Self.integer(isNegative, digits + repeatElement(0, count: exponent))
    }

    /// The shortest form: a plain integer where 64 bits hold it.
    private static func integer(_ isNegative: Bool, _ digits: [UInt8]) -> Value {
        let magnitude = BigNumber.bytes(digits)
        // A negative number is -1 - n.
        let bytes = isNegative ? BigNumber.decremented(magnitude) : magnitude
        guard bytes.count <= 8 else { return .tagged(isNegative ? Tag.negative : Tag.positive, .bytes(bytes)) }
        let value = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return isNegative ? .negative(value) : .unsigned(value)
    }
}

extension Value {
    /// The integer, if this is one; floats are none here.
    fileprivate var exactInteger: Int? {
        if case .float = self { nil } else { integer(Int.self) }
    }
}

extension Double {
    /// The nearest to an integer below those of 64 bits, or to a number in tag 2, 3 or 4: the JSON view reads numbers so
    /// that a `Double` would not keep to the last digit.
    ///
    /// - Returns: `nil` for anything else, and for what would become infinite.
    init?(nearest tree: Value) {
        switch tree {
        case .negative, .tagged: break
        default: return nil
        }
        guard let number = DecimalNumber(tree), let value = Double(number.text()), value.isFinite else { return nil }
        self = value
    }
}
