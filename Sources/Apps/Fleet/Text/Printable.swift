/// `text` on one line, fit to be shown anywhere: without control and formatting characters (a terminal obeys
/// those), white space as plain spaces, none at the ends, and cut off after whole characters so that it has
/// at most `bytesMax` bytes of UTF-8.
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
    /// False for what steers a terminal or the direction of text instead of showing.
    fileprivate var isShown: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
        default: true
        }
    }
}
