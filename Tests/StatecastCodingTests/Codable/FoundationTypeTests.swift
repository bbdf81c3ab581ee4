import Foundation
import StatecastCoding
import StatecastJSON
import Testing

@Suite struct `Types of Foundation` {
    @Test func `Types of Foundation decode to equal values, from CBOR and from the JSON view, as keys too`() throws {
        let everything = Everything.sample
        let tree = try StateEncoder().value(of: everything)
        #expect(try StateDecoder().decode(Everything.self, from: tree) == everything)
        #expect(try StateDecoder().decode(Everything.self, from: StateEncoder().encode(everything)) == everything)
        // The name of a key that is a relative URL reads as another URL.
        var readable = everything
        readable.links = readable.links.filter { $0.key.baseURL == nil }
        let shown = try JSON.value(parsing: JSON.text(of: StateEncoder().value(of: readable)))
        #expect(try StateDecoder(acceptsJSONForms: true).decode(Everything.self, from: shown) == readable)
    }

    @Test func `Types of Foundation have the documented forms in CBOR`() throws {
        func hex(_ value: some Encodable) throws -> String {
            try StateEncoder().encode(value).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        #expect(try hex(Data([1, 2, 255])) == "430102ff")
        #expect(try hex(Data()) == "40")
        #expect(try hex(uuid) == "d8255067e5504410b1426f9247bb680e5fe0c8")
        #expect(try hex(url("http://a/b")) == "d8206a687474703a2f2f612f62")
        #expect(try hex(Date(timeIntervalSinceReferenceDate: 1.5)) == "f93e00")
        #expect(try hex(decimal("19.99")) == "c482211907cf")
        #expect(try hex(decimal("-0.5")) == "c4822024")
        #expect(try hex(Decimal(0)) == "c4820000")
        #expect(try hex(Decimal.nan) == "f97e00")
        #expect(try hex(decimal("1000")) == "c4820301")
        #expect(try hex(decimal("18446744073709551617")) == "c48200c249010000000000000001")
        #expect(try hex(decimal("-18446744073709551616")) == "c482003bffffffffffffffff")
    }

    @Test func `Types of Foundation have patches of the changed parts only`() throws {
        var (old, new) = (Everything.sample, Everything.sample)
        new.id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
        new.price += 1
        old.prices = [:]
        let patch = try Differ.patch(from: old, to: new).patch
        var tree = try StateEncoder().value(of: old)
        try patch.apply(to: &tree)
        #expect(try StateDecoder().decode(Everything.self, from: tree) == new)
        #expect(try Differ.patch(from: new, to: new).isEmpty)
    }

    @Test func `Types of Foundation have an example`() throws {
        #expect(
            Value(exampleOf: Everything.self)?.description == """
                {"at":0.0,"id":"00000000-0000-0000-0000-000000000000","all":[],"ids":[],"blob":"","link":"file:///",\
                "blobs":{},"dates":{},"links":{},"maybe":0,"price":0,"counts":{},"prices":{}}
                """
        )
    }

    @Test(
        arguments: [
            ([1, 2, 255], [1, 2, 255]), ("AQL/", [1, 2, 255]), (.bytes([7]), [7]), (.tagged(23, .bytes([7])), [7]),
        ] as [(Value, [UInt8])]
    ) func `data is decoded from bytes, base64 and numbers`(tree: Value, bytes: [UInt8]) throws {
        #expect(try StateDecoder(acceptsJSONForms: true).decode(Data.self, from: tree) == Data(bytes))
    }

    @Test(
        arguments: [
            .bytes(bytes), .tagged(37, .bytes(bytes)), "67E55044-10B1-426F-9247-BB680E5FE0C8",
            "67e55044-10b1-426f-9247-bb680e5fe0c8", .tagged(55_799, .tagged(37, .bytes(bytes))),
        ] as [Value]
    ) func `a UUID is decoded from its bytes and from text`(tree: Value) throws {
        #expect(try StateDecoder(acceptsJSONForms: true).decode(UUID.self, from: tree) == uuid)
    }

    @Test(arguments: [
        "http://h/a/b?x=1#f", "file:///a%20b/", "mailto:a@b", "b?x=1", "../c", "#f", "HTTP://H:80/%7e",
        "http://[::1]:1/",
    ]) func `a URL decodes to an equal one`(text: String) throws {
        for url in [try url(text), try #require(URL(string: text, relativeTo: url("http://h/a/")))] {
            let read = try StateDecoder().decode(URL.self, from: StateEncoder().encode(url))
            #expect(read == url && read.absoluteString == url.absoluteString && read.baseURL == url.baseURL)
            let json = JSON.text(of: try StateEncoder().value(of: url))
            #expect(try StateDecoder(acceptsJSONForms: true).decode(URL.self, from: JSON.value(parsing: json)) == url)
        }
        let file = URL(fileURLWithPath: "relative", relativeTo: URL(filePath: "/x/"))
        #expect(try StateDecoder().decode(URL.self, from: StateEncoder().encode(file)) == file)
    }

    @Test func `Types of Foundation refuse other values, and name the expected form`() {
        refuses(Data.self, ["QQ=", [256], [-1], 5, .null])
        refuses(
            UUID.self,
            [
                .bytes([1]), .tagged(37, .bytes(bytes + [0])), "", "67e5504410b1426f9247bb680e5fe0c8",
                "67e55044-10b1-426f-9247-bb680e5fe0cg", "67e55044-10b1-426f-9247-bb680e5fe0\u{E9}", [1, 2], .null,
            ]
        )
        refuses(
            URL.self,
            [
                "", 5, .tagged(32, .bytes([])), ["relative": 1], ["base": "http://h"], ["relative": "a", "base": 5],
                .null, "http://[::1",
            ]
        )
        let failure = #expect(throws: CodingFailure.self) {
            try StateDecoder(acceptsJSONForms: true).decode([UUID].self, from: ["x"])
        }
        #expect(failure?.description == #"0: expected a UUID (as text, or 16 bytes), got text "x""#)
    }
}

@Suite struct `A Date` {
    @Test(arguments: seeds(0..<20)) func `A Date decodes to the same number`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let random = (0..<50).flatMap { _ in
            [Double(bitPattern: generator.next()), Double.random(in: 7e8...9e8, using: &generator)]
        }
        for seconds in random + [0, -0.0, .infinity, -.infinity, 978_307_200, .leastNonzeroMagnitude, 1e300] {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let tree = try StateEncoder().value(of: date)
            for tree in [tree, try JSON.value(parsing: JSON.text(of: tree)), try Value(decoding: tree.encoded)] {
                let read = try StateDecoder(acceptsJSONForms: true).decode(Date.self, from: tree)
                #expect(read == date || (seconds.isNaN && read.timeIntervalSinceReferenceDate.isNaN))
            }
        }
    }

    @Test(
        arguments: [
            ("2001-01-01T00:00:00Z", 0), ("2001-01-01T00:00:00z", 0), ("2001-01-01t00:00:00-00:00", 0),
            ("2001-01-01 01:00:00+01:00", 0), ("2000-12-31T23:59:59.5Z", -0.5), ("1970-01-01T00:00:00Z", -978_307_200),
            ("2013-03-21T20:04:00Z", 385_589_040), ("2013-03-21T20:04:00.123456789Z", 385_589_040.123456789),
            ("2000-02-29T00:00:00-23:59", -26_438_460), ("2016-12-31T23:59:60Z", 504_921_600),
            ("0001-01-01T00:00:00Z", -63_113_904_000), ("0000-12-31T00:00:00Z", -63_113_990_400),
            ("0000-01-01", -63_145_526_400), ("9999-12-31T23:59:59.999999999999999999999Z", 252_423_993_600),
            ("2024-03-01", 730_944_000),
        ] as [(String, Double)]
    ) func `A Date is read from RFC 3339 text`(text: String, seconds: Double) throws {
        let date = try StateDecoder(acceptsJSONForms: true).decode(Date.self, from: .text(text))
        #expect(date.timeIntervalSinceReferenceDate == seconds)
    }

    @Test func `A Date agrees with Foundation on the calendar`() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let date = Date(
                timeIntervalSinceReferenceDate: Double(
                    Int.random(in: -13_000_000_000...250_000_000_000, using: &generator)
                )
            )
            let text = date.formatted(.iso8601)
            #expect(try StateDecoder(acceptsJSONForms: true).decode(Date.self, from: .text(text)) == date, "\(text)")
        }
    }

    @Test(
        arguments: [
            (5, 5), (-5, -5), (0.5, 0.5), ("NaN", .nan), (.float(.infinity), .infinity),
        ] as [(Value, Double)]
    ) func `A Date is read from numbers of seconds since 2001`(tree: Value, seconds: Double) throws {
        let read = try StateDecoder(acceptsJSONForms: true).decode(Date.self, from: tree).timeIntervalSinceReferenceDate
        #expect(read == seconds || (read.isNaN && seconds.isNaN))
    }

    @Test func `A Date refuses text and values that are not a date`() {
        refuses(
            Date.self,
            [
                "yesterday", "", "2001-02-29", "2001-13-01", "2001-00-01", "2001-01-00", "1900-02-29", "2001-1-1",
                "2001-01-01T", "2001-01-01T00:00Z", "2001-01-01T00:00:00", "2001-01-01T24:00:00Z",
                "2001-01-01T00:60:00Z", "2001-01-01T00:00:61Z", "2001-01-01T00:00:00.Z", "2001-01-01T00:00:00+1",
                "2001-01-01T00:00:00+24:00", "2001-01-01T00:00:00Z ", "+2001-01-01", "12001-01-01", "\u{E9}",
                .tagged(0, "2001-01-01T00:00:00Z"), .tagged(1, 978_307_200), .tagged(100, 11_323), .tagged(55_799, 5),
                .unsigned(.max), true, .bytes([]), [], .null,
            ]
        )
    }
}

@Suite struct `A value of Foundation in a state` {
    @Test func `A value of Foundation in a state comes in its encoded form alone`() throws {
        func check<T: Decodable>(_ type: T.Type, _ encoded: Value, _ others: [Value]) throws {
            _ = try StateDecoder().decode(type, from: encoded)
            for other in others {
                let failure = #expect(throws: CodingFailure.self, "\(other)") {
                    try StateDecoder().decode(type, from: other)
                }
                #expect(failure?.description.hasPrefix("expected \(type) as it is encoded, got ") == true)
                _ = try StateDecoder(acceptsJSONForms: true).decode(type, from: other)
            }
        }
        let id = Value.tagged(37, .bytes(bytes))
        try check(UUID.self, id, [.tagged(99, id), .tagged(99, .bytes(bytes)), .bytes(bytes), .text(uuid.uuidString)])
        try check(Date.self, 1.0, [1, "2026-01-02T03:04:05Z"])
        try check(Data.self, .bytes([1]), [[1], "AQID", .tagged(23, .bytes([1]))])
        try check(
            Decimal.self,
            .tagged(4, [-1, 15]),
            [.tagged(4, [-2, 150]), 1.5, 1, "1.5", .tagged(2, .bytes([1]))]
        )
        let link = Value.tagged(32, "http://a")
        try check(URL.self, link, ["http://a", ["relative": "http://a"], ["base": "http://a", "relative": "b"]])
        try check(URL.self, ["base": link, "relative": "b"], [])
        let duration = try StateEncoder().value(of: Duration.milliseconds(-1))
        #expect(try StateDecoder().decode(Duration.self, from: duration) == .milliseconds(-1))
        #expect(throws: CodingFailure.self) { try StateDecoder().decode(Duration.self, from: -0.001) }
    }
}

@Suite struct `A Decimal` {
    @Test(arguments: seeds(0..<20))
    func `A Decimal decodes to an equal one, and has one encoding`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let digits = String((0...generator.below(38)).map { _ in Character("\(generator.below(10))") })
            let exponent = generator.below(256) - 128
            let sign = generator.pick(["", "-"])
            guard let value = Decimal(string: "\(sign)\(digits)e\(exponent)") else { continue }
            let tree = try StateEncoder().value(of: value)
            // A number in JSON is a float, which keeps 15 digits.
            let number = digits.count > 15 ? tree : try JSON.value(parsing: JSON.text(of: tree))
            for tree in [tree, number, try JSON.value(parsing: "\"\(value)\"")] {
                #expect(try StateDecoder(acceptsJSONForms: true).decode(Decimal.self, from: tree) == value, "\(value)")
            }
            if let same = Decimal(string: "\(sign)0\(digits)0e\(exponent - 1)"), same == value {
                #expect(try StateEncoder().encode(same) == StateEncoder().encode(value))
            }
        }
    }

    @Test func `A Decimal decodes at the ends of its range`() throws {
        let most = Decimal.greatestFiniteMagnitude
        for value in [most, -most, .leastNonzeroMagnitude, .nan, 0, try decimal("1e127"), try decimal("1000e127")] {
            let tree = try StateEncoder().value(of: value)
            for tree in [tree, try JSON.value(parsing: "\"\(value)\"")] {
                #expect(try StateDecoder(acceptsJSONForms: true).decode(Decimal.self, from: tree) == value)
            }
        }
    }

    @Test(
        arguments: [
            (5, "5"), (-5, "-5"), (.unsigned(.max), "18446744073709551615"), (.negative(.max), "-18446744073709551616"),
            (0.1, "0.1"), (1e22, "10000000000000000000000"), (-0.0, "0"), ("19.990", "19.99"), ("+1e2", "100"),
            (.tagged(4, [-2, 1999]), "19.99"), (.tagged(4, [2, 1]), "100"),
            (.tagged(4, [-1, .tagged(3, .bytes([9]))]), "-1"),
            (.tagged(2, .bytes([1, 0])), "256"), (.tagged(4, [130, 1000]), "1000000e127"),
            (.tagged(4, [-131, 1000]), "1e-128"),
            (.tagged(55_799, .tagged(4, [-2, 1999])), "19.99"),
        ] as [(Value, String)]
    ) func `A Decimal is decoded exactly from integers, floats, digits and tags`(tree: Value, text: String) throws {
        let value = try #require(Decimal(string: text))
        #expect(try StateDecoder(acceptsJSONForms: true).decode(Decimal.self, from: tree) == value)
    }

    @Test func `A Decimal refuses a number that it cannot hold exactly`() {
        refuses(
            Decimal.self,
            [
                "", "1,5", "1 ", "0x10", ".", ".5", "5.", "1e", "1e99999999999", "1e200", "1e-129",
                "1e-2147483648", "1e2147483647", .text(String(repeating: "1", count: 41)),
                "340282366920938463463374607431768211456", .float(.infinity), "Infinity", 1e300, true, .null,
                [0, 1], .tagged(4, []), .tagged(4, [1]), .tagged(4, [1, 2, 3]), .tagged(4, [1, 1.5]),
                .tagged(4, [1.0, 1]), .tagged(4, ["1", 1]), .tagged(4, [.unsigned(.max), 1]),
                .tagged(4, [.negative(.max), 1]), .tagged(4, [Value(Int.min), 1]), .tagged(4, [Value(Int.max), 10]),
                .tagged(4, [0, .tagged(2, .bytes([UInt8](repeating: 1, count: 17)))]),
                .tagged(2, .bytes([UInt8](repeating: 1, count: 10_000_000))),
            ]
        )
    }
}

private func refuses<T: Decodable>(_ type: T.Type, _ trees: [Value]) {
    for tree in trees {
        #expect(throws: CodingFailure.self, "\(tree.description.prefix(60))") {
            try StateDecoder(acceptsJSONForms: true).decode(type, from: tree)
        }
    }
}

private struct Everything: Codable, Equatable {
    var id = uuid
    var blob = Data([0, 1, 255])
    var link = URL(filePath: "/a b")
    var at = Date(timeIntervalSinceReferenceDate: 817_344_798.123_456_7)
    var price = Decimal(1999) / 100
    var maybe: Decimal? = Decimal(sign: .minus, exponent: 100, significand: 7)
    var all: [UUID?] = [uuid, nil]
    var ids: Set<UUID> = [uuid]
    var counts: [UUID: Int] = [uuid: 1]
    var links: [URL: Int] = [URL(filePath: "/a"): 1, URL(filePath: "b", relativeTo: URL(filePath: "/c/")): 2]
    var dates: [Date: Int] = [Date(timeIntervalSinceReferenceDate: 0.1): 1, .distantPast: 2]
    var prices: [Decimal: Int] = [Decimal(5) / 1000: 1, 7: 2, Decimal.greatestFiniteMagnitude: 3]
    var blobs: [Data: Int] = [Data([1, 2, 3]): 1, Data(): 2]

    static let sample = Everything()
}

private let bytes: [UInt8] = [103, 229, 80, 68, 16, 177, 66, 111, 146, 71, 187, 104, 14, 95, 224, 200]
private let uuid = UUID(uuid: (103, 229, 80, 68, 16, 177, 66, 111, 146, 71, 187, 104, 14, 95, 224, 200))

private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }
private func decimal(_ text: String) throws -> Decimal { try #require(Decimal(string: text)) }
