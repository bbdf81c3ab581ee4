package import StateCoding
internal import StateJSON

/// One JSON object on one line, its fields in the order in which they are given.
package struct JSONLine: CustomStringConvertible {
    /// The line, without its end.
    package let description: String

    /// The object of these fields.
    package init(_ fields: KeyValuePairs<String, Value>) { self.init(fields.map { $0 }) }

    /// The object of these fields.
    package init(_ fields: [(key: String, value: Value)]) {
        let members = fields.map { JSON.text(of: .text($0.key)) + ":" + JSON.text(of: $0.value) }
        description = Self.escapingSteering("{" + members.joined(separator: ",") + "}")
    }

    /// JSON lets characters stand as they are that a terminal obeys; written out they mean the same to a program.
    private static func escapingSteering(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 >= 0x80 }) else { return text }
        var line = ""
        for scalar in text.unicodeScalars {
            if VisibleText.steers(scalar) {
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
