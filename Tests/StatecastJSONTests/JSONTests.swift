import Foundation
import StatecastCoding
import StatecastJSON
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
            ([5: 1, [1]: 2, .bytes([1]): 3, true: 4], #"{"5":1,"\"AQ==\"":3,"gQE=":2,"true":4}"#),
            (.tagged(37, .bytes(uuid)), #""67E55044-10B1-426F-9247-BB680E5FE0C8""#),
            (.tagged(37, .bytes([1])), #""AQ==""#), (.tagged(37, "x"), #""x""#),
            (.tagged(32, "http://a"), #""http://a""#),
            (.tagged(0, "2013-03-21T20:04:00Z"), #""2013-03-21T20:04:00Z""#), (.tagged(1, 1.5), "1.5"),
            (.tagged(4, [-2, 1999]), "19.99"), (.tagged(4, [-3, 5]), "0.005"), (.tagged(4, [0, -5]), "-5"),
            (.tagged(4, [1, 50]), "500"), (.tagged(4, [-7, 0]), "0"),
            (.tagged(4, [-1, .negative(.max)]), "-1844674407370955161.6"),
            (.tagged(4, [41, 12]), "1.2e+42"), (.tagged(4, [-43, 12]), "1.2e-42"),
            (.tagged(4, [9_000_000, 1]), "1e+9000000"),
            (.tagged(4, [-4, .tagged(2, .bytes([1] + zeros))]), "1844674407370955.1616"),
            (.tagged(4, [.unsigned(.max), 1]), "[18446744073709551615,1]"), (.tagged(4, [1.0, 1]), "[1.0,1]"),
            (.tagged(4, [1]), "[1]"), (.tagged(4, "x"), #""x""#), (.tagged(2, "x"), #""x""#),
            (.tagged(2, .bytes([])), "0"), (.tagged(3, .bytes([])), "-1"), (.tagged(2, .bytes([0, 0, 7])), "7"),
            (.tagged(2, .bytes([1] + zeros)), "18446744073709551616"),
            (.tagged(3, .bytes([1] + zeros)), "-18446744073709551617"),
            (.tagged(3, .bytes([255, 255])), "-65536"),
            (.tagged(5, .tagged(4, [-2, 1999])), "19.99"),
            (
                [
                    .tagged(37, .bytes(uuid)): 1, .tagged(32, "http://a"): 2, .tagged(4, [-2, 1999]): 3,
                    .tagged(0, "t"): 4,
                ],
                #"{"wGF0":4,"19.99":3,"http://a":2,"67E55044-10B1-426F-9247-BB680E5FE0C8":1}"#
            ),
        ] as [(Value, String)]
    ) func `The JSON view prints each kind of value by its rule`(value: Value, text: String) {
        #expect(JSON.text(of: value) == text)
        #expect(value.description == text)
    }

    @Test(
        arguments: [
            (" null ", .null), ("[1, 2.5,-3]", [1, 2.5, -3]), ("1.0", 1.0), ("1e2", 100.0), ("-0", 0), ("-0.0", 0.0),
            ("9223372036854775807", 9_223_372_036_854_775_807),
            ("9223372036854775808", .unsigned(9_223_372_036_854_775_808)),
            ("18446744073709551615", .unsigned(.max)), ("18446744073709551616", 18_446_744_073_709_551_616.0),
            ("-9223372036854775808", .negative(UInt64(Int64.max))),
            ("-9223372036854775809", -9_223_372_036_854_775_808.0),
            ("1e22", 1e22), ("0.0", 0.0), ("1.7976931348623157e308", .float(.greatestFiniteMagnitude)),
            ("5e-324", .float(.leastNonzeroMagnitude)), ("1e-399", 0.0), ("1e-99999999999999999999", 0.0),
            ("19.99", 19.99), ("0.10000000000000000000", 0.1), ("-0.1234567890123456789", -0.12345678901234568),
            (#""\u00e9\ud83d\ude00\/\b\f\n\r\t\"\\""#, "\u{E9}\u{1F600}/\u{8}\u{C}\n\r\t\"\\"),
            (#"{"a":{"b":[]},"c":"\u0000"}"#, ["a": ["b": []], "c": "\0"]), ("\t[\n]\r", []),
        ] as [(String, Value)]
    ) func `The JSON view reads JSON`(text: String, value: Value) throws {
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
            ("1.8e308", .outOfRange), ("-1e400", .outOfRange),
            ("\"\n\"", .malformed), (#""\x""#, .malformed), (#""\u12g4""#, .malformed), (#""\ud800""#, .invalidText),
            (#""\udc00""#, .invalidText), (#""\ud800\n""#, .invalidText), (#""\ud800\ud800""#, .invalidText),
            (#"{"a":1,"a":2}"#, .duplicateKey), ("\u{FEFF}1", .malformed), ("/**/1", .malformed), ("'a'", .malformed),
        ] as [(String, CodingFailure.Code)]
    ) func `The JSON view refuses text that is not JSON`(text: String, code: CodingFailure.Code) {
        let failure = #expect(throws: CodingFailure.self) { try JSON.value(parsing: text) }
        #expect(failure?.code == code)
    }

    @Test func `big numbers have digits in the JSON view if their mantissa has at most 128 bits`() throws {
        let most = [UInt8](repeating: 255, count: 16)
        #expect(JSON.text(of: .tagged(2, .bytes(most))) == "340282366920938463463374607431768211455")
        #expect(JSON.text(of: .tagged(2, .bytes([0] + most))) == "340282366920938463463374607431768211455")
        let least: Value = .tagged(3, .bytes(most.dropLast() + [254]))
        #expect(JSON.text(of: least) == "-340282366920938463463374607431768211455")
        #expect(JSON.text(of: .tagged(3, .bytes(most))) == JSON.text(of: .bytes(most)))
        let more: Value = .bytes([1] + [UInt8](repeating: 0, count: 16))
        #expect(JSON.text(of: .tagged(2, more)) == JSON.text(of: more))
        #expect(JSON.text(of: .tagged(4, [0, .tagged(2, more)])) == "[0,\(JSON.text(of: more))]")
    }

    @Test func `a number becomes the nearest float, and a decimal in a text stays exact`() throws {
        func read<T: Decodable>(_ text: String, _ type: T.Type) throws -> T {
            try StateDecoder(acceptsJSONForms: true).decode(type, from: JSON.value(parsing: text))
        }
        #expect(try read("0.1000000000000000055511151231257827", Double.self) == 0.1)
        #expect(try read("18446744073709551616", Double.self) == 18_446_744_073_709_551_616)
        #expect(try read("-9223372036854775809", Double.self) == -9_223_372_036_854_775_808)
        #expect(try read("0.1000000000000000055511151231257827", Float.self) == 0.1)
        #expect(try read("19.99", Decimal.self) == Decimal(string: "19.99"))
        let digits = "1234567890123456789.0123456789012345678"
        #expect(try read("\"\(digits)\"", Decimal.self).description == digits)
        let failure = #expect(throws: CodingFailure.self) { try read("18446744073709551616", Int.self) }
        #expect(failure?.message == "expected an integer that fits Int, got the number 1.8446744073709552e+19")
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: String(repeating: "9", count: 400)) }
        let tooLarge = #expect(throws: CodingFailure.self) { try read("1e400", Double.self) }
        #expect(tooLarge?.message == "line 1, column 1: expected a number that 64 bits can hold, got a larger one")
    }

    @Test func `The JSON view says line and column`() {
        let failure = #expect(throws: CodingFailure.self) { try JSON.value(parsing: "{\n  \"\u{E9}\": x}") }
        #expect(failure?.message == "line 2, column 8: expected a value, got x")
    }

    @Test func `invalid UTF-8 and too deep nesting are refused`() {
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: [0x22, 0xFF, 0x22]) }
        let max = CodingLimits.standard.maxDepth
        let nested = { (depth: Int) in String(repeating: "[", count: depth) + String(repeating: "]", count: depth) }
        #expect(throws: Never.self) { try JSON.value(parsing: nested(max)) }
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: nested(max + 1)) }
        #expect(throws: CodingFailure.self) { try JSON.value(parsing: String(repeating: "[", count: 1_000_000)) }
    }

    @Test(arguments: seeds(0..<40)) func `a parsed value is parsed again from its text`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let value = generator.value()
            // The text may hold one key twice, where two keys look alike in JSON.
            if let read = try? JSON.value(parsing: JSON.text(of: value)) {
                #expect(JSON.text(of: read) == JSON.text(of: try JSON.value(parsing: JSON.text(of: read))))
            }
            let float = Double(bitPattern: generator.next())
            if float.isFinite { #expect(try JSON.value(parsing: JSON.text(of: .float(float))) == .float(float)) }
        }
    }

    @Test func `dictionaries with other keys are decoded from the JSON view`() throws {
        let states: [Int: [UInt8]] = [1: [1], -20: [2, 3]]
        let text = JSON.text(of: try StateEncoder().value(of: states))
        #expect(
            try StateDecoder(acceptsJSONForms: true).decode([Int: [UInt8]].self, from: JSON.value(parsing: text))
                == states
        )
        func comesBack<Key: Hashable & Codable>(_ keys: Key...) throws -> Bool {
            let dictionary = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })
            let text = JSON.text(of: try StateEncoder().value(of: dictionary))
            return try StateDecoder(acceptsJSONForms: true).decode([Key: Int].self, from: JSON.value(parsing: text))
                == dictionary
        }
        #expect(try comesBack(true, false))
        #expect(try comesBack(1.5, -2, 1e300, .infinity))
        #expect(try comesBack(UInt64.max, 0))
        #expect(try comesBack(Int64.min, .max))
        #expect(try comesBack([UInt8](), [1, 2, 255]))
        #expect(try comesBack(Int?.none, 5))
        enum Word: String, Codable { case first, second }
        #expect(try comesBack(Word.first, .second))
        // The name of another key is the base64 of its encoding, which no other key has.
        enum Place: Codable, Hashable { case row(Int), code([UInt8]), name(String), balcony }
        #expect(try comesBack(Place.row(7), .code([1]), .name("AQ=="), .balcony))
        struct Seat: Codable, Hashable { var row = 0, places: [Place: Int]?, free: Int?? }
        #expect(try comesBack(Seat(), Seat(places: [.balcony: 1, .row(2): 3]), Seat(free: .some(nil))))
        #expect(try comesBack([[1, 2], [3]], [], [[]]))
        let guests = try StateEncoder().value(of: [Place.balcony: "Ada"])
        #expect(JSON.text(of: guests) == #"{"oWdiYWxjb255oA==":"Ada"}"#)
        for name in ["{}", "oWdiYWxjb255oA", "oWdiYWxjb255", "AAAA"] {
            let shown = try JSON.value(parsing: #"{"\#(name)":"Ada"}"#)
            #expect(throws: CodingFailure.self) {
                try StateDecoder(acceptsJSONForms: true).decode([Place: String].self, from: shown)
            }
        }
        for name in ["07", "AA=="] {
            let wrong = try JSON.value(parsing: #"{"\#(name)": 1}"#)
            #expect(throws: CodingFailure.self) {
                try StateDecoder(acceptsJSONForms: true).decode([Int: Int].self, from: wrong)
            }
        }
    }
}

private let uuid = bytes("67e55044 10b1 426f 9247 bb680e5fe0c8")
private let zeros = [UInt8](repeating: 0, count: 8)
