import StatecastCoding
import Testing

@Suite struct `Editing a value` {
    @Test func `Editing a value sets, replaces and removes the keys of a map at any depth`() {
        var tree: Value = ["a": ["b": 1]]
        tree["a"]?["c"] = 2
        tree["a"]?["b"] = 3
        tree["d"] = .null
        #expect(tree == ["a": ["b": 3, "c": 2], "d": .null])
        tree["a"]?["b"] = nil
        tree["d"] = nil
        tree["absent"]?["b"] = 1
        #expect(tree == ["a": ["c": 2]])
    }

    @Test func `Editing a value does not change other copies`() {
        let before: Value = ["a": [1, 2]]
        var after = before
        after["a"]?.changeEach { $0 = 7 }
        #expect(before == ["a": [1, 2]])
        #expect(after == ["a": [7, 7]])
    }

    @Test func `Editing a value descends into maps with any keys, and into no other values`() {
        var tree: Value = .map([1: "x", "one": "y", [1]: "z"])
        tree.changeEach { $0 = .text(($0.textValue ?? "") + "!") }
        #expect(tree == .map([1: "x!", "one": "y!", [1]: "z!"]))
        for other in [1, "text", .null, .tagged(1, [1])] as [Value] {
            var changed = other
            changed.changeEach { $0 = .null }
            #expect(changed == other)
        }
    }

    @Test func `Editing a value keeps the changes before an error, and the rest`() {
        var tree: Value = [1, 2, 3]
        #expect(throws: CodingFailure.self) {
            try tree.changeEach { element throws(CodingFailure) in
                guard element != 2 else { throw CodingFailure(.malformed, "two") }
                element = 0
            }
        }
        #expect(tree == [0, 2, 3])
    }
}
