/// The JSON view of values: for people, command lines and tools; never for the wire.
///
/// JSON carries less than CBOR, so by rule:
/// - byte strings are base64 text;
/// - NaN and the infinities are the texts `"NaN"`, `"Infinity"`, `"-Infinity"`;
/// - a UUID (tag 37 of 16 bytes) is its text, `"67E55044-10B1-426F-9247-BB680E5FE0C8"`;
/// - decimal fractions (tag 4) and big numbers (tags 2 and 3) are their digits, `19.99`, exactly: with an exponent where
///   they would need more than 40 zeros, and as plain content where a mantissa takes more than 128 bytes;
/// - all other tags are dropped, so `.some(nil)` looks like `nil`, and a URL (tag 32) like its text;
/// - integers are written without, floats with a fraction or an exponent (`1`, `1.0`), so that they stay apart;
/// - a key that is a UUID or a URL is its text, any other that is no text the text of its JSON (`5` is `"5"`);
/// - keys come in the order of their encodings, shorter ones first.
///
/// Reading turns none of this back, as it cannot know; but typed decoding takes base64 for `[UInt8]` and `Data`, the
/// words for floats, texts for UUIDs, URLs and dates, numbers for decimals, and texts for dictionary keys of other types.
public enum JSON {
    /// The value as JSON text (RFC 8259), in one line or indented by two spaces.
    public static func text(of value: Value, pretty: Bool = false) -> String {
        var printer = JSONPrinter(pretty: pretty)
        printer.print(value)
        return String(decoding: printer.output, as: UTF8.self)
    }

    /// Reads JSON text, all of it.
    ///
    /// Integers stay integers, beyond 64 bits as big numbers; numbers with a fraction or an exponent become floats. Where
    /// a float would lose digits, a number of up to 309 becomes a decimal fraction (tag 4), so that a decimal is read
    /// as it was written.
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

    /// - Returns: `nil` for a number that is finite.
    static func word(for value: Double) -> String? {
        value.isFinite ? nil : value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity"
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
