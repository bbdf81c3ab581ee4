extension Character {
    /// The columns on a terminal. By Unicode Standard Annex 11, East Asian Width, with ambiguous characters as narrow;
    /// a character that is shown as an emoji has two, whatever it consists of.
    package var displayWidth: Int {
        if isASCII { return unicodeScalars.count { $0.value >= 0x20 && $0.value != 0x7F } }
        // U+FE0F asks for the emoji of a character that is also a plain one.
        if unicodeScalars.contains(where: { $0.properties.isEmojiPresentation || $0.value == 0xFE0F }) { return 2 }
        return unicodeScalars.reduce(0) { $0 + $1.displayWidth }
    }
}

extension Unicode.Scalar {
    fileprivate var displayWidth: Int {
        switch properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control, .format, .lineSeparator, .paragraphSeparator: return 0
        default: break
        }
        // The vowels and final consonants of Hangul join the syllable before them.
        if (0x1160...0x11FF).contains(value) || (0xD7B0...0xD7FB).contains(value) { return 0 }
        return Self.wide.contains { $0.contains(value) } ? 2 : 1
    }

    /// The wide and the full-width characters, besides emojis.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x3247, 0x3250...0x4DBF, 0x4E00...0xA4CF,
        0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
        0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265, 0x20000...0x3FFFD,
    ]
}

extension String {
    /// The columns on a terminal.
    package var displayWidth: Int { reduce(0) { $0 + $1.displayWidth } }

    /// The text, cut to `width` columns with an ellipsis at the end if it is wider. No character is divided.
    package func clipped(to width: Int) -> String {
        var (used, kept) = (0, startIndex)
        for index in indices {
            used += self[index].displayWidth
            if used > width { return width > 0 ? self[..<kept] + "…" : "" }
            // Leaves a column for the ellipsis.
            if used < width { kept = self.index(after: index) }
        }
        return self
    }

    /// The words of the text in lines of at most `width` columns. A wider word is clipped.
    package func wrapped(to width: Int) -> [String] {
        var lines: [String] = []
        for word in split(separator: " ") {
            if let last = lines.last, last.displayWidth + 1 + String(word).displayWidth <= width {
                lines[lines.count - 1] += " " + word
            } else {
                lines.append(String(word))
            }
        }
        return lines.map { $0.clipped(to: width) }
    }

    /// The text clipped or padded with spaces to exactly `width` columns.
    package func padded(to width: Int, alignment: Alignment = .left) -> String {
        let clipped = clipped(to: width)
        let fill = String(repeating: " ", count: max(0, width - clipped.displayWidth))
        return alignment == .left ? clipped + fill : fill + clipped
    }
}

package enum Alignment: Sendable {
    case left, right
}
