import StatecastJSON
import Testing

@testable import StatecastCoding

/// Types with unusual hand-written coding.
@Suite struct `A type with custom coding` {
    @Test func `A type with custom coding may continue after a part failed, with any open container`() throws {
        for form in 0..<3 {
            let value = try StateEncoder().value(of: Continuing(form: form))
            #expect(value == ["a": form == 0 ? [:] : ["x": 1], "c": 2])
        }
        #expect(try StateEncoder().value(of: ContinuingInOrder()) == [[1], 2])
    }

    @Test func `A type with custom coding is refused if it requests two containers under one key`() throws {
        let failure = #expect(throws: CodingFailure.self) { try StateEncoder().encode(Twice(a: 1, b: 2)) }
        #expect(failure?.code == .unencodable && failure?.message.contains("under one key") == true)
        let difference = #expect(throws: CodingFailure.self) {
            try Differ.patch(from: Twice(a: 1, b: 2), to: Twice(a: 1, b: 3))
        }
        #expect(difference?.message == failure?.message)
    }

    @Test func `A type with custom coding decodes to an equal value if it tries several types`() throws {
        let all: [Several] = [
            .int(1), .double(1), .double(1.5), .text("NaN"), .text("12"), .text("AQID"), .bytes([1, 2, 3]),
            .double(.infinity),
        ]
        for value in all {
            try checkLaws(from: .int(7), to: value)
            try checkLaws(from: Held(value: .int(7)), to: Held(value: value))
        }
        // Forms of JSON are accepted on request alone.
        let lenient = StateDecoder(acceptsJSONForms: true)
        #expect(try lenient.decode([Int].self, from: [1.0, 2.0]) == [1, 2])
        #expect(try lenient.decode([Int: Double].self, from: ["5": "NaN"])[5]?.isNaN == true)
        #expect(throws: CodingFailure.self) { try StateDecoder().decode([Int].self, from: [1.0, 2.0]) }
        #expect(throws: CodingFailure.self) { try StateDecoder().decode([Int: Double].self, from: ["5": 1.0]) }
    }

    @Test func `A type with custom coding is decoded a second time only after a refused form of JSON`() throws {
        let cases: [(Value, Int)] = [(["n": "no date"], 1), (["n": 1.0], 2), (["n": 1], 1), (["m": 1], 1)]
        for (value, times) in cases {
            for acceptsJSONForms in [false, true] {
                let kept = Kept(0)
                _ = Reread.$readings.withValue(kept) {
                    try? StateDecoder(acceptsJSONForms: acceptsJSONForms).decode(Reread.self, from: value)
                }
                #expect(kept.value == (acceptsJSONForms ? times : 1), "\(value)")
            }
        }
    }

    @Test func `A type with custom coding may encode a dictionary of any size in its place`() throws {
        for count in [3, 40, 3000] {
            let old = Delegating(content: Dictionary(uniqueKeysWithValues: (0..<count).map { ("session-\($0)", $0) }))
            var new = old
            new.content["session-1"] = -1
            new.content["session-2"] = nil
            new.content["session-x"] = 7
            let patch = try checkLaws(from: old, to: new)
            #expect(patch.description == #"{"session-1":[-1],"session-2":null,"session-x":[7]}"#)
        }
    }

    @Test func `A type with custom coding has fields that do not depend on one in a nested container`() throws {
        let old = Mixed(number: 1, names: ["a", "b"], extra: 5)
        var new = old
        new.names.append("c")
        #expect(try Differ.patch(from: old, to: new).patch.description == #"{"names":[2,0,["c"]]}"#)
        new.extra = 6
        #expect(try checkLaws(from: old, to: new).description == #"{"extra":[[6]],"names":[2,0,["c"]]}"#)
    }

    @Test func `A type with custom coding is not encoded to check whether a field is null, or to unwrap it`() throws {
        let old = Sideways(number: 1, rows: [1: Counted(), 2: Counted()], maybe: [3: Counted()])
        var new = old
        new.number = 2
        let patch = try Differ.patch(from: old, to: new).patch
        var state = old
        try Counted.$encodings.withValue(Kept(0)) {
            try patch.apply(to: &state)
            #expect(Counted.encodings.value == 0)
            _ = try StateEncoder().encode(new)
            #expect(Counted.encodings.value == 3)
        }
        #expect(state == new)
    }

    @Test func `A type with custom coding applies a sequence of splices in one step`() throws {
        let patch = try Patch(
            from: StateEncoder().value(of: Span(of: 1..<5)),
            to: StateEncoder().value(of: Span(of: 5..<9))
        )
        let steps = try Patch(decoding: JSON.value(parsing: #"{"range":[[0,1,[]],[1,0,[9]]]}"#).encoded)
        for patch in [patch, steps] {
            var span = Span(of: 1..<5)
            try patch.apply(to: &span)
            #expect(span == Span(of: 5..<9))
        }
    }
}

@Suite struct `An enum of an older build` {
    static let cases: [(Value, String)] = [
        (["later": [:]], #"expected a case of Lamp, got "later""#), ([:], "expected a case of Lamp, got no key"),
        (["on": [:], "off": [:]], #"expected a case of Lamp, got "on", "off""#),
    ]

    @Test(arguments: cases) func `An enum of an older build names the unknown case`(came: Value, message: String) {
        let failure = #expect(throws: CodingFailure.self) { try StateDecoder().decode([Lamp].self, from: [came]) }
        #expect(failure?.message == message)
        #expect(failure?.path == ["0"])
    }
}

private enum Lamp: Codable { case on, off }

@Suite struct `A key` {
    @Test func `A key of any type keeps its bytes`() throws {
        let keys: [Value] = [
            1.5, .bool(true), .tagged(37, .bytes([1])), [1, "a", 0.5], ["k": [1.5]], 0x1p40, .float(0.1),
        ]
        for key in keys {
            let map = Value.map(ValueMap([(key, .unsigned(1))]))
            #expect(try Value(decoding: map.encoded) == map)
        }
        #expect(
            try StateDecoder().decode([Double: Int].self, from: [0xA1, 0xFB, 0x80, 0, 0, 0, 0, 0, 0, 0, 1]) == [0: 1]
        )
        #expect(try StateDecoder().decode([Double: Int].self, from: [0xA1, 0xF9, 0x80, 0, 1]) == [0: 1])
    }

    @Test func `A key is compared part by part, in the order of its encoding`() {
        let values: [Value] = [
            [], [1], [1, 2], [2], [[]], ["a"], ["b"], ["aa"], [.null], [.bool(true)], [1.5], [:], ["a": 1], ["a": 2],
            ["b": 1],
            [1: [2]], .tagged(1, 5), .tagged(1, 6), .tagged(2, 5), .bytes([1]), .bytes([2]), .bytes([1, 2]), -1, -2, 1,
            24,
        ]
        for left in values {
            for right in values {
                #expect(left.precedes(right) == left.encoded.lexicographicallyPrecedes(right.encoded))
            }
        }
    }

    @Test func `A key of a patch refers to one entry only`() throws {
        let old = [1: 0, 2: 0]
        for (patch, isRefused) in [("{\"1\":null}", false), ("{\"1\":[7]}", true)] {
            var state = old
            let patch = try Patch(decoding: JSON.value(parsing: patch).encoded)
            if isRefused {
                #expect(throws: CodingFailure.self) { try patch.apply(to: &state) }
            } else {
                try patch.apply(to: &state)
            }
            #expect(state == old)
        }
    }

    @Test func `A key is never NaN`() {
        let failure = #expect(throws: CodingFailure.self) { try StateEncoder().encode(["a": [Double.nan: 1]]) }
        #expect(failure?.code == .unencodable && failure?.path == ["a"])
        let difference = #expect(throws: CodingFailure.self) {
            try Differ.patch(from: ["a": [1.0: 1]], to: ["a": [1.0: 1, Double.nan: 2]])
        }
        #expect(difference?.path.first == "a")
    }
}

private struct Broken: Encodable {
    struct Reason: Error {}
    func encode(to encoder: any Encoder) throws { throw Reason() }
}

private enum Name: String, CodingKey { case a, b, c, x }

private struct Continuing: Encodable {
    let form: Int

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        var nested = container.nestedContainer(keyedBy: Name.self, forKey: .a)
        if form == 1 { try nested.encode(1, forKey: .x) }
        try? container.encode(Broken(), forKey: .b)
        if form == 2 { try nested.encode(1, forKey: .x) }
        try container.encode(2, forKey: .c)
    }
}

private struct ContinuingInOrder: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.unkeyedContainer()
        var nested = container.nestedUnkeyedContainer()
        try nested.encode(1)
        try? container.encode(Broken())
        try container.encode(2)
    }
}

private struct Twice: Codable, Equatable {
    var a: Int
    var b: Int

    init(a: Int, b: Int) { (self.a, self.b) = (a, b) }
    init(from decoder: any Decoder) throws { (a, b) = (0, 0) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        var first = container.nestedContainer(keyedBy: Name.self, forKey: .x)
        try first.encode(a, forKey: .a)
        var second = container.nestedContainer(keyedBy: Name.self, forKey: .x)
        try second.encode(b, forKey: .b)
    }
}

/// Counts how often it is decoded.
private struct Reread: Decodable {
    @TaskLocal static var readings = Kept(0)
    enum CodingKeys: CodingKey { case n }

    init(from decoder: any Decoder) throws {
        Reread.readings.value += 1
        _ = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .n)
    }
}

private struct Held: Codable, Equatable { var value: Several }

private enum Several: Codable, Equatable {
    case int(Int), bytes([UInt8]), double(Double), text(String)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Int.self) {
            self = .int(value)
        } else if let value = try? container.decode([UInt8].self) {
            self = .bytes(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .int(let value): try container.encode(value)
        case .bytes(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .text(let value): try container.encode(value)
        }
    }
}

private struct Delegating: Codable, Equatable {
    var content: [String: Int]

    init(content: [String: Int]) { self.content = content }
    init(from decoder: any Decoder) throws { content = try [String: Int](from: decoder) }
    func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
}

private struct Mixed: Codable, Equatable {
    var number: Int
    var names: [String]
    var extra: Int

    enum CodingKeys: CodingKey { case number, names, extra }

    init(number: Int, names: [String], extra: Int) { (self.number, self.names, self.extra) = (number, names, extra) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        names = try container.decode([String].self, forKey: .names)
        var list = try container.nestedUnkeyedContainer(forKey: .extra)
        extra = try list.decode(Int.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        var list = container.nestedUnkeyedContainer(forKey: .extra)
        try list.encode(extra)
        try container.encode(names, forKey: .names)
    }
}

/// Counts how often a value of this type is encoded.
private struct Counted: Codable, Equatable {
    @TaskLocal static var encodings = Kept(0)

    init() {}
    init(from decoder: any Decoder) throws {}
    func encode(to encoder: any Encoder) throws {
        Counted.encodings.value += 1
        var container = encoder.singleValueContainer()
        try container.encode(1)
    }
}

private struct Sideways: Codable, Equatable {
    var number: Int
    var rows: Table<Int, Counted>
    var maybe: Table<Int, Counted>?

    enum CodingKeys: CodingKey { case number, rows, maybe }

    init(number: Int, rows: Table<Int, Counted>, maybe: Table<Int, Counted>?) {
        (self.number, self.rows, self.maybe) = (number, rows, maybe)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        rows = try container.decodeNil(forKey: .rows) ? [:] : container.decode(Table<Int, Counted>.self, forKey: .rows)
        maybe = try container.decodeIfPresent(Table<Int, Counted>.self, forKey: .maybe)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(rows, forKey: .rows)
        try container.encode(maybe, forKey: .maybe)
    }
}

private struct Span: Codable, Equatable {
    var range: Range<Int>
    init(of range: Range<Int>) { self.range = range }
}
