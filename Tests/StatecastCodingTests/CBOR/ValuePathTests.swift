import Testing

@testable import StatecastCoding

@Suite struct `A path of names` {
    @Test func `A path of names leads to a key of any kind by the key's name`() {
        let keys: [Value] = [
            "text", "cafe\u{301}", "", 5, -5, .unsigned(.max), .negative(.max), 1.5, 0.0, .float(.infinity), true,
            .null,
            .bytes([1, 2]), [1, "x"], ["k": 1], .tagged(32, "https://host/a"), .tagged(37, .bytes(Array(0..<16))),
            .tagged(4, [-2, 25]), .tagged(9, "t"),
        ]
        let map = Value.map(ValueMap(keys.enumerated().map { ($1, ["found": Value($0)]) }))
        // An integer beyond 64 bits with its sign has no name to find it by.
        for (index, key) in keys.enumerated() where key != .negative(.max) {
            #expect(map.part(at: [key.keyName, "found"]) == Value(index), "\(key.keyName)")
        }
        for name in ["Text", "1.50", "\"x\"", "AQ==", "x"] {
            #expect(map.part(at: [name]) == nil, "\(name)")
        }
    }

    @Test func `A path of names prefers a text to an integer of its name`() {
        let map: Value = ["5": "text", 5: "integer", "list": [7, 8], "tagged": .tagged(9, ["a": 1])]
        #expect(map.part(at: ["5"]) == "text")
        #expect(map.part(at: ["list", "1"]) == 8)
        #expect(map.part(at: ["list", "2"]) == nil)
        #expect(map.part(at: ["tagged", "a"]) == 1)
        #expect(map.part(at: []) == map)
        #expect(ValuePath(["a"]) == ValuePath(["a"]) && ValuePath(["a"]) != ValuePath(["b"]))
    }
}
