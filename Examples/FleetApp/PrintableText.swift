/// The text on one trimmed line, without control and formatting characters, which a terminal obeys, with plain spaces
/// for white space, and cut after the last character within `maxBytes` bytes of UTF-8.
func printable(_ text: String, maxBytes: Int = .max) -> String {
    if text.utf8.count <= maxBytes, text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
        return text
    }
    var kept = ""
    for character in text {
        let shown =
            character.isWhitespace ? " " : String(character.unicodeScalars.filter(\.isShown).map(Character.init))
        if kept.isEmpty, shown == " " { continue }
        guard kept.utf8.count + shown.utf8.count <= maxBytes else { break }
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
