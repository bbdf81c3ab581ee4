import StateCoding
import Testing

@Suite struct `A JSON Patch` {
    @Test func `replaces what is there, adds what is new, removes what goes`() throws {
        let old: Value = ["a": 1, "b": ["c": 1, "gone": 2], "x/y~": 3, 5: [1, 2, 3]]
        let new: Value = ["a": 2, "b": ["c": 1, "new": 2], "x/y~": 4, 5: [1, 9, 3, 4]]
        #expect(
            try operations(from: old, to: new)
                == [
                    "remove /b/gone", "add /b/new 2", "replace /5 [1,9,3,4]", "replace /a 2", "replace /x~1y~0 4",
                ].sorted()
        )
        #expect(try operations(from: [1, 2, 3, 4], to: [1, 4]) == ["remove /1", "remove /1"])
        #expect(try operations(from: [1, 2, 3], to: [9, 8, 1, 2, 3]) == ["add /0 9", "add /1 8"])
        #expect(try operations(from: [1, 2, 3], to: [1, 7, 8, 9, 3]) == ["add /2 8", "add /3 9", "replace /1 7"])
        #expect(try operations(from: 1, to: ["a": 1]) == [#"replace  {"a":1}"#])
        #expect(try operations(from: [1], to: [1]) == [])
        #expect(try operations(from: ["l": [1, 2, 3, 4, 5]], to: ["l": [5]]) == ["replace /l [5]"])
    }

    @Test(arguments: seeds(0..<200)) func `does to the JSON view what the patch does to the value`(seed: UInt64) throws
    {
        var generator = SeededGenerator(seed: seed)
        var base = generator.document()
        for _ in 0..<8 {
            let patch = generator.patch(of: base)
            var next = base
            try patch.apply(to: &next)
            let operations = try patch.jsonPatch(from: base)
            // Where two keys look alike in JSON, there is no view to compare.
            if let view = try? base.view, let expected = try? next.view {
                let text = JSON.text(of: operations)
                #expect(try ReferencePatcher.result(of: JSON.value(parsing: text), on: view) == expected)
                var result = view
                try Patch(jsonPatch: JSON.value(parsing: text), on: view).apply(to: &result)
                #expect(result == expected, "\(base) \(operations)")
                // And on the value itself, of which JSON shows the view.
                for operations in [operations, try JSON.value(parsing: text)] {
                    var result = base
                    try Patch(jsonPatch: operations, on: base).apply(to: &result)
                    #expect(try result.view == expected, "\(base) \(operations)")
                }
            }
            base = next
        }
    }

    @Test(arguments: seeds(0..<200)) func `of any operations does what each of them says`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            guard let base = try? generator.document().view else { continue }
            let operations = (0..<(1 + generator.below(4))).map { _ in generator.operation(on: base) }
            let expected = ReferencePatcher.result(of: .array(operations), on: base)
            let patch = try? Patch(jsonPatch: .array(operations), on: base)
            var result = base
            try patch?.apply(to: &result)
            #expect(patch.map { _ in result } == expected, "\(base) \(operations)")
        }
    }

    @Test func `finds keys as the JSON view shows them`() throws {
        let id: Value = .tagged(37, .bytes([UInt8](repeating: 0x11, count: 16)))
        let base: Value = [
            5: "int", -5: "negative", 1.5: "float", true: "bool", .bytes([1]): "bytes", [1, "a"]: "array", id: "uuid",
            .tagged(32, "http://a/b"): "url", "5x": "text", .tagged(0, "t"): "tagged", "caf\u{E9}": "nfc",
        ]
        let names = [
            "5": "int", "-5": "negative", "1.5": "float", "true": "bool", "\"AQ==\"": "bytes", #"[1,"a"]"#: "array",
            "11111111-1111-1111-1111-111111111111": "uuid", "http:~1~1a~1b": "url", "5x": "text", "\"t\"": "tagged",
            "cafe\u{301}": "nfc",
        ]
        for (name, text) in names {
            let operations: Value = [
                ["op": "test", "path": .text("/" + name), "value": .text(text)],
                ["op": "remove", "path": .text("/" + name)],
            ]
            var result = base
            try Patch(jsonPatch: operations, on: base).apply(to: &result)
            #expect(result.mapValue?.count == base.mapValue.map { $0.count - 1 }, "\(name)")
            #expect(throws: CodingFailure.self) {
                try Patch(jsonPatch: .array((operations.arrayValue ?? []) + [operations[1] ?? .null]), on: base)
            }
        }
    }

    @Test func `gives a new key the kind that all others have`() throws {
        func key(_ name: String, in base: Value) throws -> Value? {
            let operation: Value = ["op": "add", "path": .text("/" + name), "value": "new"]
            var result = base
            try Patch(jsonPatch: [operation], on: base).apply(to: &result)
            return result.mapValue?.first { $0.value == "new" }?.key
        }
        let id = "11111111-1111-1111-1111-111111111111"
        let (ones, twos) = ([UInt8](repeating: 0x11, count: 16), [UInt8](repeating: 0x22, count: 16))
        #expect(try key("7", in: [1: "a", -2: "b"]) == 7)
        #expect(try key("-7", in: [1: "a"]) == -7)
        #expect(try key("07", in: [1: "a"]) == "07")
        #expect(try key("x", in: [1: "a"]) == "x")
        #expect(try key("7", in: ["x": "a", 1: "b"]) == "7")
        #expect(try key("7", in: [:]) == "7")
        #expect(try key("7", in: ["x": "a"]) == "7")
        #expect(try key(id, in: [.tagged(37, .bytes(twos)): "a"]) == .tagged(37, .bytes(ones)))
        #expect(try key("http:~1~1b", in: [.tagged(32, "http://a"): "a"]) == .tagged(32, "http://b"))
        #expect(try key("2.5", in: [1.5: "a"]) == 2.5)
        #expect(try key("1e2", in: [1.5: "a"]) == "1e2")
        #expect(try key("1e2", in: [100.0: "a"]) == "1e2")
    }

    @Test func `leaves no trace where it fails in the end`() throws {
        let base: Value = ["a": [1]]
        let operations = try JSON.value(
            parsing: #"[{"op":"add","path":"/a/-","value":2},{"op":"test","path":"/a","value":[1]}]"#
        )
        #expect(throws: CodingFailure.self) { try Patch(jsonPatch: operations, on: base) }
        #expect(base == ["a": [1]])
    }

    @Test func `makes a patch of what changed alone`() throws {
        func patch(_ operations: String, on base: Value) throws -> String {
            try Patch(jsonPatch: JSON.value(parsing: operations), on: base).description
        }
        let base: Value = ["rows": ["a": ["x": 1, "y": 2], "b": [:]], "list": [["x": 1], 2, 3], "n": 1]
        #expect(
            try patch(#"[{"op":"replace","path":"/rows/a/x","value":5}]"#, on: base) == #"{"rows":{"a":{"x":[5]}}}"#
        )
        #expect(
            try patch(#"[{"op":"replace","path":"/list/0/x","value":5}]"#, on: base) == #"{"list":{"0":{"x":[5]}}}"#
        )
        #expect(try patch(#"[{"op":"add","path":"/list/1","value":5}]"#, on: base) == #"{"list":[1,0,[5]]}"#)
        #expect(
            try patch(
                #"[{"op":"test","path":"/rows/a/x","value":1},{"op":"test","path":"/list/1","value":2}]"#,
                on: base
            ) == "{}"
        )
        #expect(try patch(#"[{"op":"replace","path":"/n","value":1}]"#, on: base) == "{}")
        #expect(
            try patch(
                #"[{"op":"move","from":"/rows/a","path":"/n"},{"op":"move","from":"/n","path":"/rows/a"}]"#,
                on: base
            )
                == #"{"n":null}"#
        )
        // An enum that changes its case.
        #expect(
            try patch(#"[{"op":"remove","path":"/idle"},{"op":"add","path":"/live","value":{}}]"#, on: ["idle": [:]])
                == #"[{"live":{}}]"#
        )
        #expect(try patch(#"[{"op":"add","path":"/a","value":1}]"#, on: .tagged(9, [:])) == #"[{"a":1}]"#)
        var tagged: Value = .tagged(9, ["l": .tagged(8, [1])])
        try Patch(jsonPatch: [["op": "add", "path": "/l/-", "value": 2]], on: tagged).apply(to: &tagged)
        #expect(tagged == .tagged(9, ["l": .tagged(8, [1, 2])]))
    }

    // Of these sizes a list of the keys for each operation would not come to an end.

    @Test func `looks into an element of an array without listing its keys`() throws {
        let count = 50_000
        let element = Value.map(ValueMap((0..<count).map { (.text("k\($0)"), Value($0)) }))
        let operations: [Value] = (0..<count).map {
            ["op": "test", "path": .text("/l/0/k\($0)"), "value": Value($0)]
        }
        #expect(try Patch(jsonPatch: .array(operations), on: ["l": [element]]).isEmpty)
    }

    @Test func `lists keys of an unusual kind once`() throws {
        let keys = (0..<20_000).map { Value.bytes([UInt8($0 & 255), UInt8($0 >> 8)]) }
        let element = Value.map(ValueMap(keys.map { ($0, 1) }))
        // The JSON view of a key is text in quotes.
        let operations: [Value] = keys.prefix(3000).map { key in
            let name = JSON.text(of: key).replacing("/", with: "~1")
            return ["op": "test", "path": .text("/l/0/\(name)"), "value": 1]
        }
        #expect(try Patch(jsonPatch: .array(operations), on: ["l": [element]]).isEmpty)
    }

    @Test func `keeps what was changed inside of an array whose elements move`() throws {
        let base: Value = ["l": [["x": 1], ["x": 2], 3]]
        let operations = try JSON.value(
            parsing: #"[{"op":"test","path":"/l/0/x","value":1},{"op":"replace","path":"/l/1/x","value":5},"#
                + #"{"op":"remove","path":"/l/0"},{"op":"add","path":"/l/0/y","value":6},"#
                + #"{"op":"copy","from":"/l/0","path":"/l/-"},{"op":"test","path":"/l/2","value":{"x":5,"y":6}}]"#
        )
        var value = base
        try Patch(jsonPatch: operations, on: base).apply(to: &value)
        #expect(value == ["l": [["x": 5, "y": 6], 3, ["x": 5, "y": 6]]])
    }

    @Test func `compares as JSON does`() throws {
        func same(_ value: Value, _ expected: Value) -> Bool {
            (try? Patch(jsonPatch: [["op": "test", "path": "", "value": expected]], on: value)) != nil
        }
        #expect(same(.bytes([1]), "AQ==") && same(.float(.nan), "NaN") && same(.tagged(4, [-1, 15]), 1.5))
        #expect(same(100, 1e2) && same(.tagged(2, .bytes([5])), 5) && same([.tagged(7, .null)], [.null]))
        #expect(same([5: 1, "a": [1.0]], ["5": 1, "a": [1]]) && same(.tagged(32, "u"), "u"))
        #expect(!same(1, "1") && !same(["a": 1], ["b": 1]) && !same([1], [1, 2]) && !same(.null, false))
        #expect(!same(.unsigned(.max), .float(18_446_744_073_709_551_616)) && !same(true, 1) && !same([], [:]))
    }

    @Test func `that would multiply the document is refused`() throws {
        let double: Value = ["op": "copy", "from": "", "path": "/l/-"]
        let failure = #expect(throws: CodingFailure.self) {
            try Patch(jsonPatch: .array(Array(repeating: double, count: 28)), on: ["l": [1]])
        }
        #expect(failure?.code == .tooLarge)
        let again: Value = ["op": "copy", "from": "/l/0", "path": "/l/-"]
        let texts = Value.array(Array(repeating: .text(String(repeating: "x", count: 10_000)), count: 10))
        let other = #expect(throws: CodingFailure.self) {
            try Patch(jsonPatch: .array(Array(repeating: again, count: 200)), on: ["l": texts])
        }
        #expect(other?.code == .tooLarge)
        let big = Value.array((0..<100_000).map { Value($0) })
        let once: Value = ["op": "copy", "from": "/l", "path": "/m"]
        #expect(throws: Never.self) { try Patch(jsonPatch: [once], on: ["l": big]) }
        #expect(throws: CodingFailure.self) { try Patch(jsonPatch: [once, once], on: ["l": big]) }
    }

    @Test func `nests no deeper than the limits, however it gets there`() throws {
        let max = CodingLimits.standard.depthMax
        func pointer(_ levels: Int) -> Value { .text(String(repeating: "/a", count: levels)) }
        let down = (1..<max).map { ["op": "add", "path": pointer($0), "value": [:]] as Value }
        var result: Value = [:]
        try Patch(jsonPatch: .array(down), on: [:]).apply(to: &result)
        #expect(throws: Never.self) { try Value(decoding: result.encoded) }
        let steps: [Value] = [
            ["op": "add", "path": pointer(max), "value": [:]],
            ["op": "replace", "path": pointer(max - 1), "value": [[]]],
            ["op": "add", "path": pointer(max + 1), "value": 1], ["op": "copy", "from": "/a", "path": "/a/a"],
        ]
        for step in steps {
            let failure = #expect(throws: CodingFailure.self) { try Patch(jsonPatch: .array(down + [step]), on: [:]) }
            #expect(failure?.code == .tooDeep)
        }
        let long: Value = ["op": "add", "path": pointer(1_000_000), "value": 1]
        #expect(throws: CodingFailure.self) { try Patch(jsonPatch: [long], on: [:]) }
    }

    @Test(
        arguments: [
            (#"{"a":{"b":[1]}}"#, ["x": 1]), (#"{"a":{"b":[1]}}"#, ["a": 1]), ("[0,2,[]]", [1]), ("[0,0,[]]", ["a": 1]),
            (#"{"7":[1]}"#, [1, 2]), ("[[0,1,[]],[0,1,[]]]", [1]),
        ] as [(String, Value)]
    ) func `is not made of a patch that does not fit`(patch: String, base: Value) throws {
        let patch = try Patch(decoding: JSON.value(parsing: patch).encoded)
        let failure = #expect(throws: CodingFailure.self) { try patch.jsonPatch(from: base) }
        #expect(failure?.code == .patchMismatch)
    }

    /// The operations between two values, in words; those of one array as they come, all sorted.
    private func operations(from old: Value, to new: Value) throws -> [String] {
        try (Patch(from: old, to: new).jsonPatch(from: old).arrayValue ?? []).map { operation in
            let value = operation["value"].map { " \($0)" } ?? ""
            return "\(operation["op"]?.textValue ?? "") \(operation["path"]?.textValue ?? "")\(value)"
        }.sorted()
    }
}
