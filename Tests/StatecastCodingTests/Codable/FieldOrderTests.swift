import StatecastCoding
import Testing

/// Fields are encoded in any order, and written in one order.
@Suite struct `The fields of a type` {
    @Test func `The fields of a type are sorted by their encoded keys, however many and long they are`() throws {
        for seed in UInt64(1)...300 {
            var random = SeededGenerator(seed: seed)
            let fields = Fields(random: &random)
            let bytes = try StateEncoder().encode(fields)
            let tree = try Value(decoding: bytes)
            #expect(bytes == tree.encoded, "seed \(seed)")
            #expect(try tree == StateEncoder().value(of: fields.byName), "seed \(seed)")
            let names = fields.entries.map(\.name)
            let back = try Reading.$names.withValue(names) { try StateDecoder().decode(Reading.self, from: bytes) }
            #expect(back.values == names.map { fields.byName[$0] }, "seed \(seed)")
            #expect(back.absent, "seed \(seed)")
        }
    }

    @Test func `The fields of a type may be at the very end of the bytes`() throws {
        for name in ["", "a", "ab", "abc", "abcdefg", "abcdefgh", "abcdefghi", "é", "ééé", "e\u{301}"] {
            let bytes = try StateEncoder().encode([name: 1])
            let back = try Reading.$names.withValue([name]) { try StateDecoder().decode(Reading.self, from: bytes) }
            #expect(back.values == [1], "\(name)")
        }
    }
}

@Suite struct `More types than the cache holds` {
    @Test func `More types than the cache holds are encoded and decoded correctly`() throws {
        func visit<T: Codable & Equatable>(_ value: T, _ depth: Int) throws {
            #expect(try StateDecoder().decode(T.self, from: StateEncoder().encode(value)) == value)
            guard depth > 0 else { return }
            try visit(Left(left: value), depth - 1)
            try visit(Right(right: value), depth - 1)
        }
        // 2,047 types, each with keys of its own.
        try visit(1, 10)
    }
}

private struct Left<Content: Codable & Equatable>: Codable, Equatable { var left: Content }
private struct Right<Content: Codable & Equatable>: Codable, Equatable { var right: Content }

private struct NameKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

private struct Fields: Encodable {
    var entries: [(name: String, value: Int)] = []

    init(random: inout SeededGenerator) {
        // Names with shared prefixes, which their first bytes do not distinguish.
        let beginnings = [
            "", "f", "field", "fieldnam", "a rather long beginning of a name", String(repeating: "x", count: 300), "ä",
            "e\u{301}",
        ]
        for _ in 0..<Int.random(in: 0...60, using: &random) {
            let beginning = beginnings.randomElement(using: &random) ?? ""
            let rest = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                "abc\u{7F}".randomElement(using: &random) ?? "a"
            }
            entries.append((beginning + String(rest), Int.random(in: 0...1_000_000, using: &random)))
        }
    }

    /// Of two fields with one name the later one counts.
    var byName: [String: Int] { Dictionary(entries.map { ($0.name, $0.value) }) { $1 } }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: NameKey.self)
        for (name, value) in entries { try container.encode(value, forKey: NameKey(stringValue: name)) }
    }
}

private struct Reading: Decodable {
    @TaskLocal static var names: [String] = []

    var values: [Int?] = []
    var absent = true

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: NameKey.self)
        for name in Reading.names {
            values.append(try container.decodeIfPresent(Int.self, forKey: NameKey(stringValue: name)))
            absent = absent && !container.contains(NameKey(stringValue: name + "?"))
        }
    }
}
