import StatecastCoding
import StatecastJSON
import Testing

@Suite struct `A JSON Patch` {
    @Test func `A JSON Patch replaces changed parts, adds new ones, and removes old ones`() throws {
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

    @Test(arguments: seeds(0..<200))
    func `A JSON Patch has the effect of the patch on the JSON view`(seed: UInt64) throws {
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
            }
            base = next
        }
    }

    @Test func `A JSON Patch of a sequence has the operations of each of its patches`() throws {
        let patch = try Patch(decoding: JSON.value(parsing: #"{"l":[[[0,1,[]],[1,0,[9]]],[0,1,[7]]]}"#).encoded)
        let operations = try patch.jsonPatch(from: ["l": [1, 5]])
        #expect(ReferencePatcher.result(of: operations, on: ["l": [1, 5]]) == ["l": [7, 9]])
    }

    @Test(
        arguments: [
            (#"{"a":{"b":[1]}}"#, ["x": 1]), (#"{"a":{"b":[1]}}"#, ["a": 1]), ("[0,2,[]]", [1]), ("[0,0,[]]", ["a": 1]),
            (#"{"7":[1]}"#, [1, 2]), ("[[0,1,[]],[0,1,[]]]", [1]),
        ] as [(String, Value)]
    ) func `A JSON Patch is not created from a patch that does not fit`(patch: String, base: Value) throws {
        let patch = try Patch(decoding: JSON.value(parsing: patch).encoded)
        let failure = #expect(throws: CodingFailure.self) { try patch.jsonPatch(from: base) }
        #expect(failure?.code == .patchMismatch)
    }

    /// The operations between two values as text, sorted.
    private func operations(from old: Value, to new: Value) throws -> [String] {
        try (Patch(from: old, to: new).jsonPatch(from: old).arrayValue ?? []).map { operation in
            let value = operation["value"].map { " \($0)" } ?? ""
            return "\(operation["op"]?.textValue ?? "") \(operation["path"]?.textValue ?? "")\(value)"
        }.sorted()
    }
}
