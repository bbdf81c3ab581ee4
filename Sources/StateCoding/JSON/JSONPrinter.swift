struct JSONPrinter {
    let pretty: Bool
    private(set) var output: [UInt8] = []
    private var indentation = 0
    /// Whether this prints a key, which is escaped once more by whoever prints the map.
    private let isKey: Bool

    init(pretty: Bool, isKey: Bool = false) {
        self.pretty = pretty
        self.isKey = isKey
    }

    mutating func print(_ value: Value) {
        switch value {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .unsigned(let value): raw(String(value))
        // -1 - n may not fit 64 bits; one more than n does in all cases but the last.
        case .negative(.max): raw("-18446744073709551616")
        case .negative(let n): raw("-\(n + 1)")
        case .float(let value): number(value)
        case .text(let value): text(value)
        case .bytes(let value): text(Base64.text(value))
        case .array(let elements):
            list("[", elements, "]") { $0.print($1) }
        case .map(let map):
            list("{", map, "}") { printer, entry in
                printer.text(JSON.name(ofKey: entry.key, isWithinKey: printer.isKey))
                printer.raw(printer.pretty ? ": " : ":")
                printer.print(entry.value)
            }
        case .tagged(let tag, let content):
            switch JSON.form(ofTag: tag, content) {
            case .text(let value)?: text(value)
            case .number(let digits)?: raw(digits)
            case nil: print(content)
            }
        }
    }

    /// Swift prints the shortest digits that read back as the same number, always with a fraction or an exponent.
    private mutating func number(_ value: Double) {
        if let word = JSON.word(for: value) { text(word) } else { raw("\(value)") }
    }

    private mutating func list<C: Collection>(
        _ open: String,
        _ items: C,
        _ close: String,
        _ body: (inout JSONPrinter, C.Element) -> Void
    ) {
        raw(open)
        indentation += 1
        var isFirst = true
        for item in items {
            if !isFirst { raw(",") }
            isFirst = false
            newLine()
            body(&self, item)
        }
        indentation -= 1
        if !isFirst { newLine() }
        raw(close)
    }

    private mutating func newLine() {
        guard pretty else { return }
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: indentation * 2))
    }

    private mutating func text(_ text: String) {
        output.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): raw("\\\"")
            case UInt8(ascii: "\\"): raw("\\\\")
            case 0x0A: raw("\\n")
            case 0x0D: raw("\\r")
            case 0x09: raw("\\t")
            // Terminals act on DEL as on the other control characters.
            case 0..<0x20, 0x7F:
                let hex = String(byte, radix: 16)
                raw("\\u00" + (hex.count == 1 ? "0" : "") + hex)
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func raw(_ text: String) {
        output.append(contentsOf: text.utf8)
    }
}
