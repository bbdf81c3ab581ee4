extension Character {
    /// How many columns it takes on a terminal: 0, 1 or 2. After Unicode Standard Annex 11, East Asian Width,
    /// with ambiguous characters taken as narrow.
    var displayWidth: Int {
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
    /// How many columns it takes on a terminal.
    var displayWidth: Int {
        reduce(0) { $0 + $1.displayWidth }
    }

    /// Itself, or as much of it as goes into `width` columns with an ellipsis at the end.
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

    /// Exactly `width` columns: clipped, or filled up with spaces at the right (at the left for numbers).
    func padded(to width: Int, alignment: Alignment = .left) -> String {
        let clipped = clipped(to: width)
        let fill = String(repeating: " ", count: max(0, width - clipped.displayWidth))
        return alignment == .left ? clipped + fill : fill + clipped
    }
}

/// On which side of its column a text stands.
enum Alignment {
    case left, right
}
