/// Text that came from elsewhere, made fit for a terminal.
package enum VisibleText {
    /// The text on one line, with control and formatting characters written out (`\u{1b}`): a terminal would obey them.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: steers) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            if steers(scalar) {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Whether a terminal would obey the character, or might, instead of showing it.
    static func steers(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }
}
