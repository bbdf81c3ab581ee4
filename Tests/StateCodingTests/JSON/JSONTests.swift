import StateCoding
import Testing

@Suite struct `The JSON view` {
    @Test(
        arguments: [
            (.null, "null"), (true, "true"), (0, "0"), (.unsigned(.max), "18446744073709551615"), (-1, "-1"),
            (.negative(.max), "-18446744073709551616"), (.negative(.max - 1), "-18446744073709551615"),
            (1.0, "1.0"), (-0.0, "-0.0"), (0.1, "0.1"), (1e300, "1e+300"), (.float(.nan), "\"NaN\""),
            (.float(-.infinity), "\"-Infinity\""), ("a\"\\\n\u{1}\u{7F}\u{E9}", "\"a\\\"\\\\\\n\\u0001\\u007f\u{E9}\""),
            (.bytes([1, 2, 3, 255]), "\"AQID/w==\""), (.bytes([]), "\"\""), (.tagged(1, 5), "5"), ([], "[]"),
            ([:], "{}"),
            ([5: 1, [1]: 2, .bytes([1]): 3, true: 4], #"{"5":1,"\"AQ==\"":3,"[1]":2,"true":4}"#),
        ] as [(Value, String)]
    ) func `prints each kind of value by its rule`(value: Value, text: String) {
        #expect(JSON.text(of: value) == text)
    }

    @Test func `is indented on demand`() {
        let value: Value = ["a": [1, ["b": .null]], "c": [], "d": [:]]
        #expect(
            JSON.text(of: value, pretty: true) == """
                {
                  "a": [
                    1,
                    {
                      "b": null
                    }
                  ],
                  "c": [],
                  "d": {}
                }
                """
        )
    }

    @Test(
        arguments: [
            (" null ", .null), ("[1, 2.5,-3]", [1, 2.5, -3]), ("1.0", 1.0), ("1e2", 100.0), ("-0", 0), ("-0.0", 0.0),
            ("18446744073709551615", .unsigned(.max)), ("18446744073709551616", 18446744073709551616.0),
            ("-9223372036854775808", .negative(UInt64(Int64.max))), ("-9223372036854775809", -9223372036854775808.0),
            (#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#, "\u{E9}\u{1F600}/\u{8}\u{C}\n\r\t\"\\"),
            (#"{"a":{"b":[]},"c":"\u0000"}"#, ["a": ["b": []], "c": "\0"]), ("\t[\n]\r", []),
        ] as [(String, Value)]
    ) func `reads JSON`(text: String, value: Value) throws {
        #expect(try JSON.value(parsing: text) == value)
    }

    @Test(
        arguments: [
            ("", .truncated), ("[1", .truncated), ("{\"a\"", .truncated), ("\"a", .truncated), ("nul", .malformed),
            ("[1,]", .malformed), ("{,}", .malformed), ("{\"a\":1,}", .malformed), ("{a:1}", .malformed),
            ("01", .trailingBytes),
            ("1.", .truncated), (".5", .malformed), ("+1", .malformed), ("1e", .truncated), ("-", .truncated),
            ("-a", .malformed),
            ("NaN", .malformed), ("1 2", .trailingBytes), ("[1]]", .trailingBytes), ("1e999", .outOfRange),
            ("\"\n\"", .malformed), (#""\x""#, .malformed), (#""\u12g4""#, .malformed), (#""\ud800""#, .invalidText),
            (#""\udc00""#, .invalidText), (#""\ud800\n""#, .invalidText), (#""\ud800\ud800""#, .invalidText),
            (#"{"a":1,"a":2}"#, .duplicateKey), ("\u{FEFF}1", .malformed), ("/**/1", .malformed), ("'a'", .malformed),
        ] as [(String, CodingFailure.Code)]
    ) func `refuses what is no JSON`(text: String, code: CodingFailure.Code) {
        let failure = #expect(throws: CodingFailure.self) { try JSON.value(parsing: text) }
        #expect(failure?.code == code)
    }

    @Test func `says line and column`() {
        let failure = #expect(throws: CodingFailure.self) { try JSON.value(parsing: "{\n  \"\u{E9}\": x}") }
        #expect(failure?.message == "line 2, column 8: expected a value, got x")
    }

    @Test func `invalid UTF-8 and too deep nesting are refused`() {
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: [0x22, 0xFF, 0x22]) }
        let max = CodingLimits.standard.depthMax
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(throws: Never.self) { try JSON.value(parsing: nested(max)) }
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: nested(max + 1)) }
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    @Test(arguments: UInt64(0)..<40) func `what JSON can carry comes back`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let value = generator.value()
            for pretty in [false, true] {
                let text = JSON.text(of: value, pretty: pretty)
                // The text may hold one key twice, where two keys look alike in JSON.
                guard let read = try? JSON.value(parsing: text) else { continue }
                #expect(JSON.text(of: read) == JSON.text(of: try JSON.value(parsing: JSON.text(of: read))))
            }
            let float = Double(bitPattern: generator.next())
            if float.isFinite { #expect(try JSON.value(parsing: JSON.text(of: .float(float))) == .float(float)) }
        }
    }

    @Test func `dictionaries with other keys are read from it`() throws {
        let states: [Int: [UInt8]] = [1: [1], -20: [2, 3]]
        let text = JSON.text(of: try StateEncoder().value(of: states))
        #expect(try StateDecoder().decode([Int: [UInt8]].self, from: JSON.value(parsing: text)) == states)
    }
}
