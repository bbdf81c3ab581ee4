/// The JSON view of values: for people, command lines and tools; never for the wire.
///
/// JSON carries less than CBOR, so by rule:
/// - byte strings are base64 text; a key that is no text is the text of its JSON (`5` is `"5"`);
/// - NaN and the infinities are the texts `"NaN"`, `"Infinity"`, `"-Infinity"`;
/// - tags are dropped, so `.some(nil)` looks like `nil`;
/// - integers are written without, floats with a fraction or an exponent (`1`, `1.0`), so that they stay apart;
/// - keys come in the order of their encodings, shorter ones first.
///
/// Reading turns none of this back, as it cannot know; but typed decoding takes base64 for `[UInt8]`, the words for
/// floats, and texts for dictionary keys of other types.
public enum JSON {
    /// The value as JSON text (RFC 8259), in one line or indented by two spaces.
    public static func text(of value: Value, pretty: Bool = false) -> String {
        var printer = JSONPrinter(pretty: pretty)
        printer.print(value)
        return String(decoding: printer.output, as: UTF8.self)
    }

    /// Reads JSON text, all of it.
    ///
    /// Integers stay integers where 64 bits hold them, and become floats beyond.
    ///
    /// - Throws: `malformed`, `truncated`, `invalidText`, `duplicateKey`, `tooDeep`, `outOfRange` (a number beyond
    ///   `Double`), `trailingBytes`; the message says line and column.
    public static func value(
        parsing text: String,
        limits: CodingLimits = .standard
    ) throws(CodingFailure) -> Value {
        try value(parsing: Array(text.utf8), limits: limits)
    }

    /// Reads JSON in UTF-8, all of it.
    ///
    /// - Throws: as `value(parsing:)` of a text.
    public static func value(
        parsing bytes: [UInt8],
        limits: CodingLimits = .standard
    ) throws(CodingFailure) -> Value {
        var parser = JSONParser(bytes, limits: limits)
        return try parser.document()
    }

    static func nonFinite(_ word: String) -> Double? {
        switch word {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: nil
        }
    }
}
