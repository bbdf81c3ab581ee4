/// A number by its decimal digits, exactly: what JSON writes, and what tags 2, 3 and 4 hold.
///
/// One number has one form: no zeros at either end of the digits, so that numbers compare by what they mean.
struct DecimalNumber: Hashable {
    let isNegative: Bool
    /// 0 to 9 each, the most significant first; none for zero.
    let digits: [UInt8]
    /// The power of ten of the last digit.
    let exponent: Int

    /// Enough for any number in use; small enough that sums of two cannot overflow.
    static let exponents = -Int(Int32.max)...Int(Int32.max)

    /// - Returns: `nil` for an exponent or a number of digits beyond what is handled here.
    init?(isNegative: Bool, digits: some Collection<UInt8>, exponent: Int) {
        let significant = digits.drop { $0 == 0 }
        let zeros = significant.reversed().prefix { $0 == 0 }.count
        let count = significant.count - zeros
        guard count <= BigNumber.digitsMax, Self.exponents.contains(exponent) else { return nil }
        self.isNegative = isNegative && count > 0
        self.digits = Array(significant.prefix(count))
        self.exponent = count > 0 ? exponent + zeros : 0
    }

    /// Reads digits with a sign, a fraction and an exponent, each of which may be absent.
    init?(_ text: String) {
        var rest = Substring(text).utf8
        func take(_ characters: UInt8...) -> UInt8? {
            guard let first = rest.first, characters.contains(first) else { return nil }
            rest = rest.dropFirst()
            return first
        }
        func takeDigits() -> [UInt8] {
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            rest = rest[digits.endIndex...]
            return digits.map { $0 - UInt8(ascii: "0") }
        }
        let sign = take(UInt8(ascii: "-"), UInt8(ascii: "+"))
        var digits = takeDigits()
        var exponent = 0
        guard !digits.isEmpty else { return nil }
        if take(UInt8(ascii: ".")) != nil {
            let fraction = takeDigits()
            guard !fraction.isEmpty else { return nil }
            digits += fraction
            exponent = -fraction.count
        }
        if take(UInt8(ascii: "e"), UInt8(ascii: "E")) != nil {
            guard let written = Int32(Substring(rest)) else { return nil }
            rest = rest[rest.endIndex...]
            exponent += Int(written)
        }
        guard rest.isEmpty else { return nil }
        self.init(isNegative: sign == UInt8(ascii: "-"), digits: digits, exponent: exponent)
    }

    /// The number as JSON writes it, with an exponent where more than `zerosMax` zeros would be needed.
    func text(zerosMax: Int = 40) -> String {
        guard !digits.isEmpty else { return "0" }
        var characters = digits.map { $0 + UInt8(ascii: "0") }
        var suffix = ""
        if exponent > zerosMax || exponent + digits.count < -zerosMax {
            let leading = exponent + digits.count - 1
            suffix = "e\(leading < 0 ? "" : "+")\(leading)"
            if characters.count > 1 { characters.insert(UInt8(ascii: "."), at: 1) }
        } else if exponent >= 0 {
            characters += repeatElement(UInt8(ascii: "0"), count: exponent)
        } else {
            let zeros = max(0, 1 - exponent - digits.count)
            characters.insert(contentsOf: repeatElement(UInt8(ascii: "0"), count: zeros), at: 0)
            characters.insert(UInt8(ascii: "."), at: characters.count + exponent)
        }
        return (isNegative ? "-" : "") + String(decoding: characters, as: UTF8.self) + suffix
    }
}
