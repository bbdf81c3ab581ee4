import StateCore

/// The text on one trimmed line, without control and formatting characters, which a terminal obeys, with plain spaces
/// for white space, and cut after the last character within `bytesMax` bytes of UTF-8.
func printable(_ text: String, bytesMax: Int = .max) -> String {
    if text.utf8.count <= bytesMax, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
        return text
    }
    var kept = ""
    for character in text {
        let shown =
            character.isWhitespace ? " " : String(character.unicodeScalars.filter(\.isShown).map(Character.init))
        if kept.isEmpty, shown == " " { continue }
        guard kept.utf8.count + shown.utf8.count <= bytesMax else { break }
        kept += shown
    }
    while kept.last == " " {
        kept.removeLast()
    }
    return kept
}

extension Unicode.Scalar {
    /// False for characters that control a terminal or the direction of text.
    fileprivate var isShown: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: true
        }
    }
}

extension Character {
    /// The columns on a terminal: 0, 1 or 2. By Unicode Standard Annex 11, East Asian Width, with ambiguous characters
    /// as narrow.
    fileprivate var displayWidth: Int {
        guard let first = unicodeScalars.first else { return 0 }
        if first.value < 0x300 { return first.value < 0x20 ? 0 : 1 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control, .format: return 0
        default: break
        }
        let isEmoji = unicodeScalars.contains { $0.properties.isEmojiPresentation || $0.value == 0xFE0F }
        let isWide = Self.wideScalars.contains { $0.contains(first.value) }
        return isEmoji || isWide ? 2 : 1
    }

    private static let wideScalars: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x20000...0x3FFFD,
    ]
}

extension String {
    /// The columns on a terminal.
    var displayWidth: Int {
        reduce(0) { $0 + $1.displayWidth }
    }

    /// The text, cut to `width` columns with an ellipsis at the end if it is longer.
    func clipped(to width: Int) -> String {
        guard displayWidth > width else { return self }
        guard width > 0 else { return "" }
        var kept = ""
        var used = 1
        for character in self {
            used += character.displayWidth
            if used > width { break }
            kept.append(character)
        }
        return kept + "…"
    }

    /// The text clipped or padded with spaces to exactly `width` columns.
    func padded(to width: Int, alignment: Alignment = .left) -> String {
        let clipped = clipped(to: width)
        let fill = String(repeating: " ", count: max(0, width - clipped.displayWidth))
        return alignment == .left ? clipped + fill : fill + clipped
    }
}

enum Alignment {
    case left, right
}

/// Formats numbers for people. No input traps.
enum HumanUnits {
    /// With a number of decimals, such as `0.42`.
    static func fixed(_ value: Double, decimals: Int) -> String {
        guard value.isFinite, value.magnitude < 1e12 else { return "\(value)" }
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let scaled = Int((value.magnitude * Double(scale)).rounded())
        let whole = (value < 0 && scaled > 0 ? "-" : "") + "\(scaled / scale)"
        guard decimals > 0 else { return whole }
        let fraction = "\(scaled % scale)"
        return whole + "." + String(repeating: "0", count: decimals - fraction.count) + fraction
    }

    /// A share between 0 and 1 as a whole percentage, such as `42%`.
    static func percent(_ share: Double) -> String {
        fixed(share * 100, decimals: 0) + "%"
    }

    /// A size in binary units, such as `7.8 GiB`.
    static func bytes(_ count: Int) -> String {
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
    static func duration(seconds: Double) -> String {
        guard seconds.isFinite, seconds < 1e15 else { return "\(seconds)s" }
        let whole = Int(max(0, seconds))
        let (days, hours, minutes) = (whole / 86_400, whole / 3_600 % 24, whole / 60 % 60)
        if days > 0 { return "\(days)d \(hours)h" }
        if hours > 0 { return "\(hours)h \(minutes)m" }
        if minutes > 0 { return "\(minutes)m \(whole % 60)s" }
        return "\(whole)s"
    }

    /// The time of day, UTC, such as `14:03:09`.
    static func timeOfDay(_ time: Timestamp) -> String {
        let day: Int64 = 86_400_000
        let seconds = Int((time.milliseconds % day + day) % day / 1_000)
        return [seconds / 3_600, seconds / 60 % 60, seconds % 60]
            .map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
    }

    /// A share between 0 and 1 as a bar of `width` columns.
    static func bar(_ share: Double, width: Int) -> String {
        let clamped = share.isNaN ? 0 : min(1, max(0, share))
        let filled = Int((clamped * Double(width)).rounded())
        return String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    }
}
