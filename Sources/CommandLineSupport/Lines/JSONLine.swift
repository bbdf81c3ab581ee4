package import StateCoding

/// One JSON object on one line, its fields in the order in which they are given.
package struct JSONLine: CustomStringConvertible {
    /// The line, without its end.
    package let description: String

    /// The object of these fields.
    package init(_ fields: KeyValuePairs<String, Value>) {
        let members = fields.map { JSON.text(of: .text($0.key)) + ":" + JSON.text(of: $0.value) }
        description = Self.escapingControls("{" + members.joined(separator: ",") + "}")
    }

    /// JSON lets the controls U+0080 to U+009F stand as they are; a terminal obeys them. In UTF-8 they all begin with C2.
    private static func escapingControls(_ text: String) -> String {
        guard text.utf8.contains(0xC2) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            if (0x80...0x9F).contains(scalar.value) {
                line += "\\u00" + String(scalar.value, radix: 16)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
        return line
    }
}
