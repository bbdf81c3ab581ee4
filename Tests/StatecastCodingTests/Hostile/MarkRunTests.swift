import StatecastJSON
import Testing

@testable import StatecastCoding

/// A text that would need minutes to compare, hash or normalize to form C: it must be neither decoded nor encoded.
@Suite struct `A text of combining marks only` {
    static let marks = String(repeating: "\u{301}\u{316}", count: CodingLimits.maxCombiningMarks / 2)
    /// Small enough for a frame.
    static let text = "a" + String(repeating: marks, count: 200)
    static let bytes = Value.text(text).encoded
    static let key = [0xA1] + bytes + [0x00]

    private func failure(_ body: () throws(CodingFailure) -> Void) -> CodingFailure? {
        do throws(CodingFailure) { try body() } catch { return error }
        return nil
    }

    // MARK: Decoding

    @Test(
        arguments: [
            bytes, key, [0x81] + bytes, [0xA1, 0x00] + bytes, [0xA1, 0x81] + bytes + [0x00], [0xC1] + bytes,
            [0x7F] + bytes + [0xFF], [0x7F, 0x60] + bytes + [0xFF],
        ]
    )
    func `A text of combining marks only is refused in CBOR by every reader`(bytes: [UInt8]) {
        let failures = [
            failure { () throws(CodingFailure) in _ = try Value(decoding: bytes) },
            failure { () throws(CodingFailure) in _ = try StateDecoder().decode([String: Int].self, from: bytes) },
            failure { () throws(CodingFailure) in _ = try Patch(decoding: [0x81] + bytes) },
            failure { () throws(CodingFailure) in _ = try Patch(decoding: [0xA1] + bytes + [0x80]) },
            failure { () throws(CodingFailure) in _ = try Summary(ofEncoded: bytes) },
            failure { () throws(CodingFailure) in
                var reader = CBORReader(bytes)
                _ = try reader.encodedItem()
            },
        ]
        for failure in failures {
            #expect(failure?.code == .invalidText)
            #expect(failure?.message.contains("at most 128 combining marks in a row, got one with more") == true)
            #expect(failure?.offset != nil)
        }
    }

    @Test func `A text of combining marks only is refused in chunks that are valid alone`() {
        let chunk = Value.text(Self.marks).encoded
        #expect(failure { () throws(CodingFailure) in _ = try Value(decoding: [0x7F] + chunk + [0xFF]) } == nil)
        let failure = failure { () throws(CodingFailure) in
            _ = try Value(decoding: [0x82, 0x00, 0x7F] + chunk + chunk + [0xFF])
        }
        #expect(failure?.code == .invalidText && failure?.offset == 2)
    }

    @Test(arguments: [#"{"a": "%"}"#, #"{"%": 1}"#, #"["%"]"#])
    func `A text of combining marks only is refused in JSON`(form: String) {
        let escaped = String(repeating: #"\u0301\u0316"#, count: CodingLimits.maxCombiningMarks)
        for text in [Self.text, escaped] {
            let json = form.replacing("%", with: text)
            let failure = failure { () throws(CodingFailure) in _ = try JSON.value(parsing: json) }
            #expect(failure?.code == .invalidText)
            #expect(failure?.description.hasPrefix("line 1, column ") == true)
        }
    }

    // MARK: Encoding

    struct Notes: Codable, Equatable, Sendable {
        var title = ""
        var note: String?
        var lines: [String] = []
        var rows: [String: String] = [:]
        var tags: Set<String> = []
        var table: Table<Int, Notes> = [:]
        var choice: Choice?
        var id = ID(rawValue: "")
        var unkeyed = Pair(first: 1, second: "")
        var open: [OpenKey] = []
    }

    enum Choice: Codable, Equatable { case other(String) }
    struct ID: Codable, RawRepresentable, Equatable { var rawValue: String }

    /// Encodes its text as the name of a field.
    struct OpenKey: Codable, Equatable {
        var name: String

        private struct Key: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        init(name: String) { self.name = name }

        init(from decoder: any Decoder) throws {
            name = try decoder.container(keyedBy: Key.self).allKeys.first?.stringValue ?? ""
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(true, forKey: Key(stringValue: name))
        }
    }

    static let places: [(path: String, put: @Sendable (inout Notes, String) -> Void)] = [
        ("title", { $0.title = $1 }), ("note", { $0.note = $1 }), ("lines.1", { $0.lines = ["", $1] }),
        ("rows", { $0.rows[$1] = "" }), ("rows.a", { $0.rows["a"] = $1 }), ("tags.0", { $0.tags = [$1] }),
        ("table.5.title", { $0.table[5] = Notes(title: $1) }), ("choice.other._0", { $0.choice = .other($1) }),
        ("id", { $0.id.rawValue = $1 }), ("unkeyed.1", { $0.unkeyed.second = $1 }),
        ("open.0", { $0.open = [OpenKey(name: $1)] }),
    ]

    @Test(arguments: places.indices)
    func `A text of combining marks only is refused with its path by the encoder and the differ`(index: Int) {
        let (path, put) = Self.places[index]
        let (before, short, long) = (Notes(), Self.marks, Self.marks + "\u{301}")
        var accepted = before
        put(&accepted, short)
        var refused = before
        put(&refused, long)
        #expect(failure { () throws(CodingFailure) in _ = try StateEncoder().encode(accepted) } == nil)
        let failures = [
            failure { () throws(CodingFailure) in _ = try StateEncoder().encode(refused) },
            failure { () throws(CodingFailure) in _ = try StateEncoder().value(of: refused) },
            failure { () throws(CodingFailure) in _ = try Differ.patch(from: before, to: refused) },
            failure { () throws(CodingFailure) in _ = try Differ.patch(from: accepted, to: refused) },
        ]
        for failure in failures {
            #expect(failure?.code == .unencodable)
            #expect(failure?.description.hasPrefix("\(path): expected a text with at most 128 combining") == true)
        }
    }

    /// To compare them as strings, the standard library would normalize both at each comparison of a search.
    @Test func `A text of combining marks only orders two keys by their bytes`() {
        let (left, right) = ("a\u{301}\u{316}", "a\u{316}\u{301}")
        #expect(left == right)
        #expect(Value.text(left).precedes(.text(right)) != Value.text(right).precedes(.text(left)))
        #expect(!CanonicalOrder.areEqual(.text(left), .text(right)))
        typealias Rows = Table<String, Int>
        #expect(Rows.precedes(left, right) != Rows.precedes(right, left))
        // In the form of a key both are one.
        #expect(CanonicalOrder.areEqual(Value.text(left).canonical, Value.text(right).canonical))
    }

    @Test func `A text of combining marks only is refused alone`() {
        let long = Self.marks + "\u{301}"
        let failures = [
            failure { () throws(CodingFailure) in _ = try StateEncoder().encode(long) },
            failure { () throws(CodingFailure) in _ = try StateEncoder().value(of: long) },
            failure { () throws(CodingFailure) in _ = try Differ.patch(from: "", to: long) },
        ]
        for failure in failures { #expect(failure?.code == .unencodable) }
    }

    /// A value that code builds directly is not checked, and is safe nevertheless.
    @Test func `A text of combining marks only in a value is safe`() throws {
        let long = Self.marks + "\u{301}"
        let value: Value = [.text(long): [.tagged(32, .text(long))]]
        #expect(throws: CodingFailure.self) { try Value(decoding: value.encoded) }
        #expect(throws: CodingFailure.self) { try StateDecoder().decode([Int].self, from: value) }
        #expect(try StateDecoder().decode([String: [String]].self, from: value) == [long: [long]])
        #expect(Patch.replace(value).description == "[\(JSON.text(of: value))]")
    }
}
