import StatecastCoding
import Testing

@Suite struct `A value` {
    let value: Value = ["a": ["b": [1, ["c": "found"]], "n": .null], 5: true]

    @Test func `A value is accessed by keys, indexes and paths`() {
        #expect(value["a"]?["b"]?[0]?.intValue == 1)
        #expect(value[path: "a.b.1.c"]?.textValue == "found")
        #expect(value[path: "5"]?.boolValue == true)
        #expect(value[path: "a.n"]?.isNull == true)
        #expect(value[path: ""] == value)
        for path in ["x", "a.b.2", "a.b.-1", "a.b.c", "a.b.1.c.d"] { #expect(value[path: path] == nil) }
    }

    @Test func `A value converts to a number only where that is exact`() {
        #expect(Value.float(3).intValue == 3)
        #expect(Value.float(3.5).intValue == nil)
        #expect(Value.unsigned(.max).intValue == nil)
        #expect(Value.negative(UInt64(Int64.max)).intValue == .min)
        #expect(Value.negative(UInt64(Int64.max) + 1).intValue == nil)
        #expect(Value(-7).doubleValue == -7)
        #expect(Value(Int64.min) == .negative(UInt64(Int64.max)))
    }

    @Test func `A value equals a value with the same meaning, and has its hash`() {
        let pairs: [(Value, Value)] = [
            (.float(0), .float(-0.0)), (.float(.nan), .float(-.nan)), ("caf\u{E9}", "cafe\u{301}"),
            (["caf\u{E9}": [0.0]], ["cafe\u{301}": [-0.0]]),
        ]
        for (left, right) in pairs { #expect(left == right && left.hashValue == right.hashValue) }
        #expect(Value.unsigned(1) != .float(1))
        #expect(Value.tagged(1, 1) != 1)
    }

    @Test(arguments: seeds(0..<30)) func `keys are sorted like their encodings`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let map = ValueMap((0..<30).map { _ in (generator.value(depth: 1), generator.value(depth: 0)) })
        let encoded = map.keys.map(\.encoded)
        #expect(encoded == encoded.sorted { $0.lexicographicallyPrecedes($1) })
        #expect(Set(encoded).count == map.count)
        for (key, value) in map { #expect(map[key] == value) }
    }

    @Test func `a map keeps the later of two entries, and removes a key that is set to nil`() {
        var map: ValueMap = ["a": 1, "b": 2, "a": 3]
        #expect(map["a"] == 3 && map.count == 2)
        let copy = map
        map["a"] = nil
        #expect(map.keys == ["b"] && copy.count == 2)
        map["a"] = Value.null
        #expect(map.count == 2)
    }

    @Test func `a message stays short even if a text is one long character`() {
        let long = Value.text("a" + String(repeating: "\u{200D}", count: 80_000))
        #expect(long.summary.utf8.count < 200)
        #expect(Value.text("abc").summary == #"text "abc""#)
        #expect(
            Value.text(String(repeating: "x", count: 40)).summary == "text \"\(String(repeating: "x", count: 40))\""
        )
        #expect(
            Value.text(String(repeating: "x", count: 41)).summary == "text \"\(String(repeating: "x", count: 40))...\""
        )
    }
}
