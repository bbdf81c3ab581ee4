import StatecastCoding
import Testing

@Suite struct `A sequence applied to a typed state` {
    struct Shelf: Codable, Equatable {
        var flag: Bool?
        var row: Row?
        var mode = Mode.idle
        var counts: [Int: Int] = [:]
        var shelves: [[String: Int]] = []
    }

    @Test(arguments: seeds(0..<40))
    func `A sequence applied to a typed state has the effect of its parts applied in order`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let first = World()
        var world = first
        var parts: [Value] = []
        for _ in 0..<(2 + generator.below(80)) {
            let old = world
            generator.change(&world)
            parts.append(try Differ.patch(from: old, to: world).patch.wire)
        }
        var state = first
        try Patch(sequence: parts).apply(to: &state)
        #expect(state == world)
        // The same within an array, whose elements move between the parts.
        var states = [first]
        let moving = try StateEncoder().value(of: first)
        let inside: [Value] = parts.enumerated().flatMap { [.map([Value($0): $1]), [0, 0, [moving]]] }
        try Patch(sequence: inside).apply(to: &states)
        #expect(states == Array(repeating: first, count: parts.count) + [world])
    }

    @Test(
        arguments: [
            [["flag": [true]], ["flag": [false]]], [["flag": .null], ["flag": [true]]],
            [["flag": [true]], ["flag": .null]], [["row": ["title": ["b"]]], ["flag": .null]],
            [["row": ["title": ["b"]]], ["row": [.null]]], [["row": ["title": ["b"]]], ["row": .null]],
            [["row": ["title": ["b"]]], ["row": ["load": [2.0]]]],
            [["mode": [["ended": ["_0": 3]]]], ["mode": ["ended": ["_0": [4]]]]],
            [["mode": ["live": ["since": [2]]]], ["mode": ["live": ["row": ["title": ["c"]]]]]],
            [["counts": [1: [5]]], ["counts": [1: .null]], ["counts": [1: [6], 2: [7]]]],
            [["shelves": [0: ["a": [1]]]], ["shelves": [0, 0, [["b": 2]]]], ["shelves": [1: ["a": [3], "c": [4]]]]],
            [["shelves": [0: ["a": [1]]]], ["shelves": [0, 1, []]], ["shelves": [[["d": 1]]]]],
            [["shelves": [0: ["a": [1]]]], ["shelves": [[["d": 1]]]], ["shelves": [1, 0, [[:]]]]],
        ] as [[Value]]
    )
    func `A sequence applied to a typed state has the same effect as on the tree`(parts: [Value]) throws {
        var state = Shelf(row: Row(title: "a"), mode: .live(since: 1, row: Row()), shelves: [[:]])
        var tree = try StateEncoder().value(of: state)
        try Patch(sequence: parts).apply(to: &tree)
        try Patch(sequence: parts).apply(to: &state)
        #expect(try state == StateDecoder().decode(Shelf.self, from: tree))
    }

    @Test(
        arguments: [
            ([["flag": .null], ["flag": ["x": [1]]]], "flag"),
            ([["counts": [1: ["x": [1]]]], ["counts": [1: [2]]]], "counts.1"),
            ([["counts": [3: [2]]], ["counts": [3: ["x": [1]]]]], "counts.3"),
            ([["shelves": [0: ["a": ["x": [1]]]]], ["shelves": [0, 1, []]]], "shelves.0.a"),
            ([["shelves": [0, 1, []]], ["shelves": [0: ["a": [1]]]]], "shelves"),
            ([["shelves": [0: ["a": [1]]]], ["shelves": [5, 1, []]]], "shelves"),
            ([["shelves": [0: .null]], ["shelves": [0: [["a": 1]]]]], "shelves"),
            ([["row": ["title": [0, 0, []]]], ["row": [.null]]], "row.title"),
        ] as [([Value], String)]
    )
    func `A sequence that does not fit a typed state names the place, and changes nothing`(
        parts: [Value],
        path: String
    ) throws {
        let before = Shelf(flag: true, row: Row(), counts: [1: 1], shelves: [[:]])
        var state = before
        let patch = try Patch(sequence: parts)
        let failure = #expect(throws: CodingFailure.self) { try patch.apply(to: &state) }
        #expect(failure?.code == .patchMismatch && failure?.path.joined(separator: ".") == path)
        #expect(state == before)
    }
}

extension Value {
    /// A sequence of nested halves, as on the wire.
    static func nested(_ parts: [Value]) -> Value {
        guard parts.count > 1 else { return parts.first ?? [:] }
        let middle = parts.count / 2
        return [nested(Array(parts[..<middle])), nested(Array(parts[middle...]))]
    }
}

extension Patch {
    fileprivate init(sequence parts: [Value]) throws {
        try self.init(decoding: Value.nested(parts).encoded)
    }

    fileprivate var wire: Value {
        get throws { try Value(decoding: encode(), limits: CodingLimits(maxDepth: 200)) }
    }
}
