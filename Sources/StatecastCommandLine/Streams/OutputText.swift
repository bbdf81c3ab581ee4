package import StatecastCoding
import StatecastJSON
import StatecastTerminal

/// Escapes text of foreign origin for a terminal.
package enum VisibleText {
    /// The text on one line, with control and formatting characters escaped (`\u{1b}`), because the terminal interprets
    /// them.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            if isControl(scalar) {
                line += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }

    /// Whether the terminal may interpret the character instead of showing it.
    fileprivate static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        return switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }
}

/// One JSON object on one line, with its fields in the given order.
package struct JSONLine: CustomStringConvertible {
    /// The line without its end.
    package let description: String

    package init(_ fields: KeyValuePairs<String, Value>) { self.init(fields.map { $0 }) }

    package init(_ fields: [(key: String, value: Value)]) {
        let members = fields.map { JSON.text(of: .text($0.key)) + ":" + JSON.text(of: $0.value) }
        description = Self.escapingControls("{" + members.joined(separator: ",") + "}")
    }

    /// JSON permits unescaped characters that the terminal interprets; escaped, they have the same value.
    private static func escapingControls(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            if VisibleText.isControl(scalar) {
                for unit in String(scalar).utf16.map({ String($0, radix: 16) }) {
                    line += "\\u" + String(repeating: "0", count: 4 - unit.count) + unit
                }
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}

/// Converts text for a terminal that shows ASCII alone.
enum PlainText {
    /// The line with a substitute of the same width for each character beyond ASCII.
    static func line(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return text.map { character in
            if character.isASCII { return String(character) }
            return substitutes[character] ?? String(repeating: "?", count: character.displayWidth)
        }.joined()
    }

    private static let substitutes: [Character: String] = ["█": "#", "░": ".", "…": "~"]
}
