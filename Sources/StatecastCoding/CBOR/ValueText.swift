extension Value: CustomStringConvertible {
    /// The value as JSON text (RFC 8259) in one line.
    ///
    /// JSON carries less than CBOR, so by rule:
    /// - byte strings are base64 text;
    /// - NaN and the infinities are the texts `"NaN"`, `"Infinity"`, `"-Infinity"`;
    /// - a UUID (tag 37 of 16 bytes) is its text, `"67E55044-10B1-426F-9247-BB680E5FE0C8"`;
    /// - a decimal fraction (tag 4) or a big number (tags 2 and 3) with a mantissa of at most 128 bits is its digits,
    ///   `19.99`, with an exponent where it would need more than 40 zeros;
    /// - all other tags are dropped, so a URL (tag 32) looks like its text;
    /// - integers are written without, floats with a fraction or an exponent (`1`, `1.0`), so that they stay apart;
    /// - the name of a key that is no text is the text of its JSON (`5` is `"5"`), of a UUID or a URL its text, and of
    ///   an array, a map or another tag the base64 of its encoding;
    /// - keys come in the order of their encodings, shorter ones first.
    public var description: String {
        var printer = ValuePrinter()
        printer.print(self)
        return String(decoding: printer.output, as: UTF8.self)
    }
}

// MARK: Keys

extension Value {
    /// The name of a key in a JSON object.
    ///
    /// The name of a key with parts, or with a tag that JSON does not have, is not readable, so that it can be read
    /// back, no other such key has it, and quotes are not escaped again at each level.
    package var keyName: String {
        switch self {
        case .text(let text), .tagged(Value.uriTag, .text(let text)): text
        case .tagged(UUIDForm.tag, .bytes(let bytes)): UUIDForm.text(bytes) ?? Base64.text(encoded)
        case .tagged: DecimalNumber(self)?.text ?? Base64.text(encoded)
        case .array, .map: Base64.text(encoded)
        default: description
        }
    }

    /// The key of a name that is not the key's text: of a number, `true`, `false`, `null`, a text in quotes (of bytes,
    /// or of a number that is not finite), or the base64 of an encoding.
    init?(keyName name: String, limits: CodingLimits) {
        if let scalar = Value(scalarKeyName: name) {
            self = scalar
        } else {
            // One key has one name.
            guard let bytes = Base64.bytes(name), let key = try? Value(decoding: bytes, limits: limits),
                key.keyName == name
            else { return nil }
            self = key
        }
    }

    private init?(scalarKeyName name: String) {
        switch name {
        case "null": self = .null
        case "true": self = .bool(true)
        case "false": self = .bool(false)
        default:
            let (quote, bytes) = (UInt8(ascii: "\""), name.utf8)
            if bytes.count >= 2, bytes.first == quote, bytes.last == quote {
                let content = bytes.dropFirst().dropLast()
                guard !content.contains(where: { $0 == quote || $0 == UInt8(ascii: "\\") }) else { return nil }
                self = .text(String(Substring(content)))
            } else if let integer = UInt64(name).map({ Value($0) }) ?? Int64(name).map({ Value($0) }) {
                // One integer has one name: 07 is a text.
                guard integer.description == name else { return nil }
                self = integer
            } else {
                guard bytes.first != UInt8(ascii: "+"), DecimalNumber(name) != nil, let value = Double(name),
                    value.isFinite
                else { return nil }
                self = .float(value)
            }
        }
    }
}

// MARK: Printing

private struct ValuePrinter {
    private(set) var output: [UInt8] = []

    mutating func print(_ value: Value) {
        switch PlainForm(value) {
        case .null: raw("null")
        case .bool(let value): raw(value ? "true" : "false")
        case .number(let digits): raw(digits)
        case .text(let value): text(value)
        case .array(let elements):
            list("[", elements, "]") { $0.print($1) }
        case .map(let map):
            list("{", map, "}") { printer, entry in
                printer.text(entry.key.keyName)
                printer.raw(":")
                printer.print(entry.value)
            }
        }
    }

    private mutating func list<C: Collection>(
        _ open: String,
        _ items: C,
        _ close: String,
        _ body: (inout ValuePrinter, C.Element) -> Void
    ) {
        raw(open)
        var isFirst = true
        for item in items {
            if !isFirst { raw(",") }
            isFirst = false
            body(&self, item)
        }
        raw(close)
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
            case 0..<0x20, 0x7F: raw("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
            default: output.append(byte)
            }
        }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func raw(_ text: String) { output.append(contentsOf: text.utf8) }
}
