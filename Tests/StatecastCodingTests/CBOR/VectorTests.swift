import StatecastCoding
import Testing

/// The examples of RFC 8949, appendix A.
@Suite struct `The vectors of RFC 8949` {
    /// The examples in deterministic encoding.
    static let deterministic: [(hex: String, value: Value)] = [
        ("00", 0), ("01", 1), ("0a", 10), ("17", 23), ("1818", 24), ("1819", 25), ("1864", 100), ("1903e8", 1000),
        ("1a000f4240", 1_000_000), ("1b000000e8d4a51000", 1_000_000_000_000),
        ("1bffffffffffffffff", .unsigned(.max)), ("3bffffffffffffffff", .negative(.max)),
        ("c249010000000000000000", .tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))),
        ("c349010000000000000000", .tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0]))), ("20", -1), ("29", -10),
        ("3863", -100), ("3903e7", -1000),
        ("f90000", 0.0), ("f98000", -0.0), ("f93c00", 1.0), ("fb3ff199999999999a", 1.1), ("f93e00", 1.5),
        ("f97bff", 65504.0),
        ("fa47c35000", 100000.0), ("fa7f7fffff", 3.4028234663852886e+38), ("fb7e37e43c8800759c", 1.0e+300),
        ("f90001", 5.960464477539063e-8), ("f90400", 0.00006103515625), ("f9c400", -4.0),
        ("fbc010666666666666", -4.1), ("f97c00", .float(.infinity)), ("f97e00", .float(.nan)),
        ("f9fc00", .float(-.infinity)), ("f4", false), ("f5", true), ("f6", .null),
        ("c074323031332d30332d32315432303a30343a30305a", .tagged(0, "2013-03-21T20:04:00Z")),
        ("c11a514b67b0", .tagged(1, 1_363_896_240)), ("c1fb41d452d9ec200000", .tagged(1, 1_363_896_240.5)),
        ("d74401020304", .tagged(23, .bytes([1, 2, 3, 4]))),
        ("d818456449455446", .tagged(24, .bytes([0x64, 0x49, 0x45, 0x54, 0x46]))),
        ("d82076687474703a2f2f7777772e6578616d706c652e636f6d", .tagged(32, "http://www.example.com")),
        ("40", .bytes([])), ("4401020304", .bytes([1, 2, 3, 4])), ("60", ""), ("6161", "a"), ("6449455446", "IETF"),
        ("62225c", "\"\\"), ("62c3bc", "\u{FC}"), ("63e6b0b4", "\u{6C34}"), ("64f0908591", "\u{10151}"),
        ("80", []), ("83010203", [1, 2, 3]), ("8301820203820405", [1, [2, 3], [4, 5]]),
        (
            "98190102030405060708090a0b0c0d0e0f101112131415161718181819",
            .array((1...25).map { Value($0) })
        ),
        ("a0", [:]), ("a201020304", [1: 2, 3: 4]), ("a26161016162820203", ["a": 1, "b": [2, 3]]),
        ("826161a161626163", ["a", ["b": "c"]]),
        ("a56161614161626142616361436164614461656145", ["a": "A", "b": "B", "c": "C", "d": "D", "e": "E"]),
    ]

    @Test(arguments: deterministic)
    func `Each vector of RFC 8949 is read and written as in the RFC`(hex: String, value: Value) throws {
        #expect(try Value(decoding: bytes(hex)) == value)
        #expect(value.encoded == bytes(hex))
        var reader = CBORReader(bytes(hex))
        #expect(try reader.encodedItem() == bytes(hex))
        try reader.requireEnd()
    }

    /// Encodings that are not deterministic: read, but never written.
    static let others: [(hex: String, value: Value)] = [
        ("f7", .null), ("fa7f800000", .float(.infinity)), ("fa7fc00000", .float(.nan)),
        ("faff800000", .float(-.infinity)), ("fb7ff0000000000000", .float(.infinity)),
        ("fb7ff8000000000000", .float(.nan)), ("fbfff0000000000000", .float(-.infinity)),
        ("5f42010243030405ff", .bytes([1, 2, 3, 4, 5])), ("7f657374726561646d696e67ff", "streaming"),
        ("9fff", []), ("9f018202039f0405ffff", [1, [2, 3], [4, 5]]), ("9f01820203820405ff", [1, [2, 3], [4, 5]]),
        ("83018202039f0405ff", [1, [2, 3], [4, 5]]), ("83019f0203ff820405", [1, [2, 3], [4, 5]]),
        (
            "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
            .array((1...25).map { Value($0) })
        ),
        ("bf61610161629f0203ffff", ["a": 1, "b": [2, 3]]), ("826161bf61626163ff", ["a", ["b": "c"]]),
        ("bf6346756ef563416d7421ff", ["Fun": true, "Amt": -2]), ("1900ff", 255), ("a2036161016162", [1: "b", 3: "a"]),
    ]

    @Test(arguments: others) func `encodings that are not deterministic are read`(hex: String, value: Value) throws {
        #expect(try Value(decoding: bytes(hex)) == value)
        var reader = CBORReader(bytes(hex))
        #expect(try reader.encodedItem() == bytes(hex))
    }

    /// The RFC's unassigned simple values 16 and 255 are well-formed, but a state cannot hold a value without a
    /// meaning.
    @Test(arguments: ["f0", "f8ff", "81f0", "a161618181f8ff", "c1f818"])
    func `simple values without a meaning are refused by name`(hex: String) {
        let failure = #expect(throws: CodingFailure.self) { try Value(decoding: bytes(hex)) }
        #expect(failure?.code == .malformed && failure?.message.contains("unknown simple value") == true)
    }

    @Test(arguments: [("c249010000000000000000", 0x1p64), ("c349010000000000000000", -0x1p64)])
    func `an integer beyond 64 bits is kept unchanged, decodes as a float, and not as an integer`(
        hex: String,
        float: Double
    ) throws {
        #expect(try Value(decoding: bytes(hex)).encoded == bytes(hex))
        #expect(try StateDecoder(acceptsJSONForms: true).decode(Double.self, from: bytes(hex)) == float)
        func code<Number: Decodable>(_ type: Number.Type) -> CodingFailure.Code? {
            #expect(throws: CodingFailure.self) { try StateDecoder().decode(type, from: bytes(hex)) }?.code
        }
        #expect(code(Int.self) == .outOfRange && code(UInt64.self) == .outOfRange)
    }

    @Test(arguments: [
        "f800", "f8f4", "ff", "1c", "5d", "fc", "9c", "5f6161ff", "7f4161ff", "5f5f4100ffff", "1f", "3f", "df00",
    ])
    func `reserved codes, breaks out of place and bad chunks are refused`(hex: String) {
        #expect(throws: CodingFailure.self) { try Value(decoding: bytes(hex)) }
        var reader = CBORReader(bytes(hex))
        #expect(throws: CodingFailure.self) { try reader.skip() }
    }
}
