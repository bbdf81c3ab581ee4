/// Formats numbers for people. No input traps.
package enum HumanUnits {
    /// With a number of decimals, such as `0.42`.
    package static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value.magnitude * Double(scale)).rounded())
        let whole = (value < 0 && scaled > 0 ? "-" : "") + "\(scaled / scale)"
        guard decimals > 0 else { return whole }
        let fraction = "\(scaled % scale)"
        return whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    /// A share between 0 and 1 as a whole percentage, such as `42%`.
    package static func percent(_ share: Double) -> String {
        fixed(share * 100, decimals: 0) + "%"
    }

    /// A size in binary units, such as `7.8 GiB`.
    package static func bytes(_ count: Int) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
        var value = Double(count)
        var power = 0
        // From this value on, one decimal would round up to 1024.0.
        while value.magnitude >= 1_023.95, power < units.count - 1 {
            value /= 1_024
            power += 1
        }
        return fixed(value, decimals: power == 0 ? 0 : 1) + " " + units[power]
    }

    /// A length of time in its two largest units, such as `3d 4h`, `12m 5s` or `42s`.
    package static func duration(seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e15 else { return "\(seconds)s" }
        let whole = Int(max(0, seconds))
        let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60)
        if days > 0 { return "\(days)d \(hours)h" }
        if hours > 0 { return "\(hours)h \(minutes)m" }
        if minutes > 0 { return "\(minutes)m \(whole % 60)s" }
        return "\(whole)s"
    }

    /// The time of day in UTC, of a time in milliseconds since 1970, such as `14:03:09`.
    package static func timeOfDay(milliseconds: Int64) -> String {
        let day: Int64 = 86_400_000
        let seconds = Int((milliseconds % day + day) % day / 1_000)
        return [seconds / 3_600, seconds / 60 % 60, seconds % 60]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
    }

    /// A share between 0 and 1 as a bar of `width` columns.
    package static func bar(_ share: Double, width: Int) -> String {
        let clamped = share.isNaN ? 0 : min(1, max(0, share))
        let filled = Int((clamped * Double(width)).rounded())
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }
}
