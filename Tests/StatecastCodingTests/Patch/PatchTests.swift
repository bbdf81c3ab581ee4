import StatecastCoding
import StatecastJSON
import Testing

@Suite struct `A patch` {
    private func patch(_ json: String) throws -> Patch {
        try Patch(decoding: JSON.value(parsing: json).patchKeys.encoded)
    }

    private func apply(_ json: String, to value: Value) throws -> Value {
        var (result, summary) = (value, Summary(of: value))
        try patch(json).apply(to: &result, summary: &summary)
        #expect(summary == Summary(of: result))
        return result
    }

    @Test func `A patch replaces, inserts, removes and descends`() throws {
        #expect(try apply("[5]", to: "x") == 5)
        #expect(
            try apply(#"{"a":[1],"b":null,"c":{"d":[2]}}"#, to: ["b": 1, "c": ["d": 1, "e": 1]]) == [
                "a": 1, "c": ["d": 2, "e": 1],
            ]
        )
        #expect(try apply(#"{"@1":[9]}"#, to: [1, 2, 3]) == [1, 9, 3])
        #expect(try apply("[1,1,[7,8]]", to: [1, 2, 3]) == [1, 7, 8, 3])
        #expect(try apply("[[0,1,[]],[2,0,[4]]]", to: [1, 2, 3]) == [2, 3, 4])
        #expect(try apply("{}", to: 1) == 1)
        #expect(try apply(#"{"gone":null}"#, to: ["a": 1]) == ["a": 1])
        #expect(try apply(#"{"a":[null]}"#, to: ["a": 1]) == ["a": .null])
    }

    @Test func `many insertions and removals in one patch keep the order`() throws {
        var generator = SeededGenerator(seed: 1)
        let old = ValueMap((0..<50).map { _ in (Value(generator.below(100)), Value(generator.below(9))) })
        let new = ValueMap((0..<50).map { _ in (Value(generator.below(100)), Value(generator.below(9))) })
        var value = Value.map(old)
        try Patch(from: .map(old), to: .map(new)).apply(to: &value)
        #expect(value == .map(new) && value.encoded == Value.map(new).encoded)
    }

    @Test(
        arguments: [
            (#"{"a":{"b":[1]}}"#, ["x": 1], "a: expected the key to be there, as the patch changes a part of it"),
            (#"{"a":[1],"z":{"b":[1]}}"#, ["a": 0, "z": 5], "z: expected a map or an array, got the integer 5"),
            (#"{"a":[0,1,[]]}"#, ["a": []], "a: expected at least 1 elements to splice, got an array of 0"),
            (#"{"a":[0,1,[]]}"#, ["a": "t"], #"a: expected an array to splice, got text "t""#),
            (#"{"@2":[1]}"#, [1, 2], "expected the element the integer 2 of an array to change, got an array of 2"),
            (#"{"@0":null}"#, [1], "expected the element the integer 0 of an array to change, got an array of 1"),
            (
                #"{"b":[1],"a":[[0,0,[1]],[5,1,[]]]}"#, ["a": []],
                "a: expected at least 6 elements to splice, got an array of 1"
            ),
        ] as [(String, Value, String)]
    )
    func `A patch that does not fit names the place, and changes nothing`(
        json: String,
        value: Value,
        message: String
    ) throws {
        var (result, summary) = (value, Summary(of: value))
        let before = summary
        let failure = #expect(throws: CodingFailure.self) { try patch(json).apply(to: &result, summary: &summary) }
        #expect(failure?.code == .patchMismatch && failure?.description == message)
        #expect(result == value && summary == before)
    }

    @Test(arguments: [
        "1", "null", "[]", "[1,2]", "[1,2,3]", "[1,2,3,4]", #"{"a":1}"#, "[-1,0,[]]", "[0,-1,[]]",
        "[9223372036854775807,0,[]]",
    ])
    func `A patch that is malformed is refused when it is decoded`(json: String) throws {
        #expect(throws: CodingFailure.self) { try patch(json) }
    }

    @Test(arguments: [
        ("a2 6162f6 6161f6", "a2 6161f6 6162f6"), ("bf 6161f6 ff", "a1 6161f6"), ("83 00 1800 80", "83 00 00 80"),
        ("82 a0 9f 6161 ff", "82 a0 81 6161"),
    ])
    func `A patch in another form than one is written in is brought into that form`(
        other: String,
        written: String
    ) throws {
        let patch = try Patch(decoding: bytes(other))
        #expect(patch.encode() == bytes(written))
        #expect(try patch == Patch(decoding: bytes(written)))
    }

    @Test func `A patch with a duplicate key is refused`() {
        #expect(throws: CodingFailure.self) { try Patch(decoding: bytes("a2 01f6 01f6")) }
    }

    @Test(arguments: seeds(0..<80)) func `A patch between any two values leads from one to the other, composed or not`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        let first = generator.value()
        var (value, summary) = (first, Summary(of: first))
        var composed = Patch.none
        for _ in 0..<12 {
            let next = generator.changed(value)
            let patch = Patch(from: value, to: next)
            #expect(patch.isEmpty == (value == next))
            #expect(try Patch(decoding: patch.encode()) == patch)
            try patch.apply(to: &value, summary: &summary)
            #expect(value == next)
            #expect(summary == Summary(of: next))
            composed = composed.composed(with: patch)
        }
        var atOnce = first
        try composed.apply(to: &atOnce)
        #expect(atOnce == value)
        #expect(try Patch(decoding: composed.encode()) == composed)
    }

    @Test func `A composed patch stays as small as its shape allows`() throws {
        func composed(_ patches: String...) throws -> String {
            try patches.reduce(Patch.none) { try $0.composed(with: patch($1)) }.description
        }
        #expect(
            try composed(#"{"a":[1],"b":{"x":[1]}}"#, #"{"a":[2],"b":{"y":[2]}}"#)
                == #"{"a":[2],"b":{"x":[1],"y":[2]}}"#
        )
        #expect(try composed(#"{"a":[{"x":1}]}"#, #"{"a":{"x":[2]}}"#) == #"{"a":[{"x":2}]}"#)
        #expect(try composed(#"{"a":{"x":[1]}}"#, #"{"a":null}"#) == #"{"a":null}"#)
        #expect(try composed(#"{"a":null}"#, #"{"a":[1]}"#) == #"{"a":[1]}"#)
        #expect(try composed("[5,0,[1]]", "[6,0,[2]]", "[7,0,[3]]") == "[5,0,[1,2,3]]")
        #expect(try composed("[2,2,[1]]", "[1,3,[9]]") == "[1,4,[9]]")
        #expect(try composed("[0,0,[[1]]]", #"{"@0":[1,0,[2]]}"#) == "[0,0,[[1,2]]]")
        #expect(try composed("[0,1,[]]", "[5,0,[1]]") == "[[0,1,[]],[5,0,[1]]]")
        #expect(try composed("[0,1,[]]", "[5,0,[1]]", "[3]") == "[3]")
        #expect(try composed(#"[{"a":[1]},[{"b":[2]},{"a":[3]}]]"#) == #"{"a":[3],"b":[2]}"#)
        #expect(try composed("[[5,0,[1]],[6,0,[2]]]", "[7,0,[3]]") == "[5,0,[1,2,3]]")
    }

    @Test func `A patch of a thousand parts in a row stays within the maximum depth`() throws {
        let parts = (0..<1000).map { "[\($0 % 2 * 5),1,[\($0)]]" }
        var composed = Patch.none
        for part in parts { composed = composed.composed(with: try patch(part)) }
        let read = try Patch(decoding: composed.encode(), limits: CodingLimits(maxDepth: 2))
        #expect(read == composed)
    }

    @Test func `A patch of the deepest value is decoded`() throws {
        let depth = CodingLimits.standard.maxDepth
        func nested(_ leaf: Value) -> Value { (0..<depth).reduce(leaf) { value, _ in [value, ["k"]] } }
        let patch = Patch(from: nested(1), to: nested(2))
        #expect(try Patch(decoding: patch.encode()) == patch)
        #expect(throws: CodingFailure.self) { try Patch(decoding: [UInt8](repeating: 0x82, count: 1_000_000)) }
    }

    @Test func `A patch replaces a map whose only key changed`() {
        #expect(Patch(from: ["idle": [:]], to: ["live": ["since": 1]]).description == #"[{"live":{"since":1}}]"#)
    }

    @Test func `A patch can be decoded from between other items`() throws {
        var writer = CBORWriter()
        writer.unsigned(1)
        Patch.replace("x").encode(into: &writer)
        writer.unsigned(2)
        var reader = CBORReader(writer.bytes)
        _ = try reader.unsigned()
        #expect(try Patch(reading: &reader) == .replace("x"))
        #expect(try reader.unsigned() == 2)
    }
}

extension Value {
    /// JSON has text keys only: `@1` stands for the index 1.
    fileprivate var patchKeys: Value {
        switch self {
        case .map(let map):
            .map(
                ValueMap(
                    map.map { entry in
                        let text = entry.key.textValue ?? ""
                        let index = text.hasPrefix("@") ? Int(text.dropFirst()) : nil
                        return (index.map { Value($0) } ?? entry.key, entry.value.patchKeys)
                    }
                )
            )
        case .array(let elements): .array(elements.map(\.patchKeys))
        default: self
        }
    }
}
