/// Dates and times as texts, `2013-03-21T20:04:00.5+01:00` (RFC 3339, section 5.6), or a date alone.
enum InternetTime {
    /// Seconds since 2001-01-01 in UTC, the nearest that a `Double` holds.
    ///
    /// A leap second counts as the one that follows it.
    static func secondsSince2001(_ text: String) -> Double? {
        var rest = text.utf8[...]
        guard let days = days(&rest) else { return nil }
        if rest.isEmpty { return Double(days * 86_400) }
        guard rest.pop(oneOf: "Tt ") != nil, let hour = number(2, 0...23, &rest), rest.pop(oneOf: ":") != nil,
            let minute = number(2, 0...59, &rest), rest.pop(oneOf: ":") != nil, let second = number(2, 0...60, &rest),
            let fraction = fraction(&rest), let offset = offset(&rest), rest.isEmpty
        else { return nil }
        let whole = days * 86_400 + hour * 3600 + (minute - offset) * 60 + second
        // Made of one text of digits, the sum is rounded once.
        let scale = fraction.reduce(Int128(1)) { scale, _ in scale * 10 }
        let total = fraction.reduce(Int128(0)) { $0 * 10 + Int128($1) } + Int128(whole) * scale
        return Double("\(total)e-\(fraction.count)")
    }

    /// The days since 2001 of a date of the Gregorian calendar.
    private static func days(_ rest: inout Substring.UTF8View) -> Int? {
        guard let year = number(4, 0...9999, &rest), rest.pop(oneOf: "-") != nil,
            let month = number(2, 1...12, &rest), rest.pop(oneOf: "-") != nil
        else { return nil }
        let isLeap = year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard let day = number(2, 1...lengths[month - 1], &rest) else { return nil }
        // The days of the years 1 to 2000 are 730,485; of the year 0, which is a leap year, -366.
        let past = year - 1
        let leaps = year == 0 ? -1 : past / 4 - past / 100 + past / 400
        return past * 365 + leaps - 730_485 + lengths[..<(month - 1)].reduce(0, +) + day - 1
    }

    /// Minutes east of UTC.
    private static func offset(_ rest: inout Substring.UTF8View) -> Int? {
        guard let sign = rest.pop(oneOf: "Zz+-") else { return nil }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return 0 }
        guard let hours = number(2, 0...23, &rest), rest.pop(oneOf: ":") != nil, let minutes = number(2, 0...59, &rest)
        else { return nil }
        return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }

    /// The fraction digits, empty without a fraction; truncated to 18.
    private static func fraction(_ rest: inout Substring.UTF8View) -> [UInt8]? {
        guard rest.pop(oneOf: ".") != nil else { return [] }
        let digits = rest.popDigits()
        return digits.isEmpty ? nil : digits.prefix(18).map { $0 - UInt8(ascii: "0") }
    }

    private static func number(_ count: Int, _ range: ClosedRange<Int>, _ rest: inout Substring.UTF8View) -> Int? {
        let digits = rest.popDigits(max: count)
        let value = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        return digits.count == count && range.contains(value) ? value : nil
    }
}
