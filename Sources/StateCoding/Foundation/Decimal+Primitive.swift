#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// Tag 4 of exponent and mantissa (RFC 8949, section 3.4.4), without zeros at the mantissa's end, so that decimals that
/// are equal have one encoding: 1, 1.0 and 100e-2 are `4([0, 1])`. NaN is a float's.
extension Decimal: TagReader {
    var tree: Value {
        guard !isNaN else { return .float(.nan) }
        guard let number = DecimalNumber(self) else { preconditionFailure("a Decimal has digits, got \(self)") }
        return number.fraction
    }

    /// Takes any number that a `Decimal` holds exactly, a float by its shortest digits; and the digits as text.
    init?(tree: Value) {
        switch tree {
        case .float(let value) where value.isNaN: self = .nan
        case .text(let text):
            if Double(nonFinite: text)?.isNaN == true {
                self = .nan
            } else {
                self.init(exactly: DecimalNumber(text))
            }
        case .tagged(DecimalNumber.Tag.positive...DecimalNumber.Tag.decimalFraction, _), .unsigned, .negative, .float:
            self.init(exactly: DecimalNumber(tree))
        case .tagged(_, let content): self.init(tree: content)
        default: return nil
        }
    }

    private init?(exactly number: DecimalNumber?) {
        // The powers of ten that are beyond the exponent's range stand as zeros in the mantissa, of at most 39 digits.
        guard let number, (-128...(127 + 39)).contains(number.exponent) else { return nil }
        let exponent = min(number.exponent, 127)
        let zeros = String(repeating: "0", count: number.exponent - exponent)
        let value = Decimal(string: "\(number.isNegative ? "-" : "")\(number.mantissa)\(zeros)e\(exponent)")
        // Foundation rounds what does not fit.
        guard let value, DecimalNumber(value) == number else { return nil }
        self = value
    }

    static var sample: Decimal { 0 }
    static var expected: String { "a decimal number of at most 38 digits" }
}

extension DecimalNumber {
    /// - Returns: `nil` for NaN.
    fileprivate init?(_ decimal: Decimal) {
        guard let significand = DecimalNumber(decimal.significand.description) else { return nil }
        self.init(
            isNegative: decimal < 0,
            mantissa: significand.mantissa,
            exponent: decimal.exponent + significand.exponent
        )
    }
}
