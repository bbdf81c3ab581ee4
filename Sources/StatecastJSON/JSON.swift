public import StatecastCoding

/// Reads and writes JSON, for people, command lines and tools; never for the wire.
///
/// Values are written by the rules of their description (`Value.description`). Reading turns none of these back, as
/// JSON does not carry the kinds; but typed decoding accepts base64 for `[UInt8]` and `Data`, the words for floats,
/// texts for UUIDs, URLs, dates and decimals, numbers for decimals, and texts for dictionary keys of any type.
public enum JSON {
    /// The value as JSON text (RFC 8259) in one line.
    public static func text(of value: Value) -> String { value.description }

    /// Reads JSON text, all of it.
    ///
    /// Integers of 64 bits stay integers; any other number becomes the nearest `Double`. To keep more digits for a
    /// `Decimal`, give them as text: `"19.990000000000000000001"`.
    ///
    /// - Throws: `malformed`, `truncated`, `invalidText`, `duplicateKey`, `tooDeep`, `outOfRange` (a number that
    ///   neither `Int64`, `UInt64` nor `Double` holds), `trailingBytes`; the message names line and column.
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
}
