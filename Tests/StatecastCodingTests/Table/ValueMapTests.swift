import Testing

@testable import StatecastCoding

@Suite struct `A map of values` {
    @Test func `A map of values refuses a duplicate key, in any order and spelling`() throws {
        let rows: [(key: Value, element: Value)] = (0..<100).map { (.text("row \(100 - $0)"), Value($0)) }
        #expect(try ValueMap(unique: rows) == ValueMap(rows.map { ($0.key, $0.element) }))
        for key: Value in ["row 50", "row 1"] {
            let failure = #expect(throws: CodingFailure.self) { try ValueMap(unique: rows + [(key, .null)]) }
            #expect(failure?.code == .duplicateKey)
        }
        #expect(throws: CodingFailure.self) { try ValueMap(unique: [("caf\u{E9}", 1), ("cafe\u{301}", 2)]) }
    }

    @Test
    func `A map of values shares parts that a patch does not change, and the next difference skips them`() throws {
        let rows = (0..<20_000).map { (Value.text("row \($0)"), Value.map(["load": Value($0), "on": true])) }
        let old = Value.map(ValueMap(rows))
        var new = old
        let change: Value = .map(["row 777": .map(["load": 1.5, "on": true])])
        let patch = Patch(from: .map(["row 777": rows[777].1]), to: change)
        try patch.apply(to: &new)
        guard case .map(let before) = old, case .map(let after) = new else { return }
        var comparison = TreeComparison(from: before.entries, to: after.entries, by: ==)
        var shown: [Value] = []
        comparison.run { key, _, _ in shown.append(key) }
        #expect(shown == ["row 777"])
        #expect(comparison.steps < 32 * 4)
        #expect(Patch(from: old, to: new) == patch)
    }
}
