import StatecastCoding
import Testing

@Suite struct `A long sequence` {
    private static let start: Value = [
        "long": .array((0..<60).map { ["n": Value($0)] }), "short": [1, 2, 3], "rows": ["a": ["list": [1, [2]]]],
    ]

    @Test(arguments: seeds(0..<12), [40, 400]) func `A long sequence has the effect of its parts applied in order`(
        seed: UInt64,
        count: Int
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var oneByOne = Self.start
        var (parts, patches) = ([Value](), [Patch]())
        for _ in 0..<count {
            parts.append(generator.patch(of: oneByOne))
            patches.append(try Patch(decoding: #require(parts.last).encoded))
            try #require(patches.last).apply(to: &oneByOne)
        }
        let sequence = try Patch(decoding: nested(parts[...]).encoded)
        try expect(sequence, leadsTo: oneByOne)
        try expect(try Patch(decoding: sequence.encode()), leadsTo: oneByOne)
        try expect(patches.reduce(.none) { $0.composed(with: $1) }, leadsTo: oneByOne)
        try expect(Patch.none.composed(with: sequence), leadsTo: oneByOne)
        var composer = PatchComposer()
        for patch in patches { composer.append(patch) }
        try expect(composer.finish(), leadsTo: oneByOne)
        #expect(composer.isEmpty && composer.finish().isEmpty)
    }

    @Test(arguments: seeds(0..<12))
    func `A long sequence is encoded from the encodings of its parts`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var oneByOne = Self.start
        var patches: [[UInt8]] = []
        for _ in 0..<30 {
            patches.append(generator.patch(of: oneByOne).encoded)
            try Patch(decoding: #require(patches.last)).apply(to: &oneByOne)
            try expect(try Patch(decoding: #require(Patch.sequence(encoded: patches))), leadsTo: oneByOne)
        }
    }

    @Test func `A long sequence has no encoding if it is nested too deeply to be decoded`() throws {
        func nested(_ depth: Int) -> [UInt8] {
            (0..<depth).reduce([1] as Value) { inner, _ in ["n": inner] }.encoded
        }
        let deepest = try #require((1...1000).last { (try? Patch(decoding: nested($0))) != nil })
        #expect(Patch.sequence(encoded: [nested(deepest), nested(1)]) == nil)
        let sequence = try #require(Patch.sequence(encoded: [nested(deepest - 1), nested(1)]))
        #expect(throws: Never.self) { try Patch(decoding: sequence) }
    }

    /// In a field, so that other fields exist that must stay unchanged.
    private func expect(_ patch: Patch, leadsTo end: Value) throws {
        var inner: Value = ["state": Self.start, "other": 1]
        var summary = Summary(of: inner)
        let field = try Patch(decoding: Value.map(["other": [2], "state": Value(decoding: patch.encode())]).encoded)
        try field.apply(to: &inner, summary: &summary)
        #expect(inner == ["state": end, "other": 2])
        #expect(summary == Summary(of: inner))
        var plain = Self.start
        try patch.apply(to: &plain)
        #expect(plain == end)
    }

    @Test(arguments: seeds(0..<40))
    func `A long sequence does not fit if one of its parts does not, and changes nothing`(
        seed: UInt64
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var oneByOne = Self.start
        var parts: [Value] = []
        for _ in 0..<60 {
            // Patches for an older state; most of them also fit the current one.
            let old = oneByOne
            parts.append(generator.patch(of: generator.below(30) == 0 ? Self.start : old))
            guard let part = parts.last, (try? Patch(decoding: part.encoded).apply(to: &oneByOne)) != nil else { break }
        }
        let fits = parts.count == 60
        let patch = try Patch(decoding: Value.map(["other": [2], "state": nested(parts[...])]).encoded)
        var value: Value = ["other": 1, "state": Self.start]
        var summary = Summary(of: value)
        let (before, summaryBefore) = (value, summary)
        if (try? patch.apply(to: &value, summary: &summary)) != nil {
            #expect(fits && value == ["other": 2, "state": oneByOne] && summary == Summary(of: value))
        } else {
            #expect(!fits && value == before && summary == summaryBefore)
        }
    }

    @Test(
        arguments: [
            ([[["a": .null], ["a": [1]]], [["a": [:]], ["b": [:]]]], "b"),
            ([["list": [0, 0, [1]]], ["list": [9, 0, [1]]]], "list"),
            ([["a": .null], ["a": ["x": [1]]]], "a"),
            ([["list": [0, 0, []]], ["list": ["k": [1]]]], "list"),
            ([["list": [0, 0, [7]]], ["list": [1: ["x": [1]]]]], "list.1"),
            ([["list": [0: ["x": [1]]]], ["list": [0, 1, []]]], "list.0"),
            ([[["list": [0: ["x": [1]]]], ["list": [0, 0, [7]]]], ["list": [1: [5]]]], "list.0"),
        ] as [(Value, String)]
    )
    func `A long sequence that does not fit names the place`(wire: Value, path: String) throws {
        var value: Value = ["a": 0, "list": [1]]
        let patch = try Patch(decoding: wire.encoded)
        let failure = #expect(throws: CodingFailure.self) { try patch.apply(to: &value) }
        #expect(failure?.code == .patchMismatch && failure?.path.joined(separator: ".") == path)
        #expect(value == ["a": 0, "list": [1]])
    }

    @Test func `A long sequence of insertions at the front of a long array keeps the digest`() throws {
        let count = 1000
        let front = Value.array([0, 0, [7]])
        var value: Value = ["list": .array(Array(repeating: 0, count: count))]
        var summary = Summary(of: value)
        let parts = Array(repeating: Value.map(["list": front]), count: count)
        try Patch(decoding: nested(parts[...]).encoded).apply(to: &value, summary: &summary)
        #expect(value == ["list": .array(Array(repeating: 7, count: count) + Array(repeating: 0, count: count))])
        #expect(summary == Summary(of: value))
    }

    @Test func `A long sequence of a bounded log is composed from many`() throws {
        let count = 20_000
        let parts = try (0..<count).map { number in
            try Patch(decoding: Value.map(["list": [[0, 1, []], [9, 0, [Value(number)]]]]).encoded)
        }
        var composer = PatchComposer()
        for part in parts { composer.append(part) }
        var value: Value = ["list": .array((0..<10).map { Value($0) })]
        var summary = Summary(of: value)
        try composer.finish().apply(to: &value, summary: &summary)
        #expect(value == ["list": .array((count - 10..<count).map { Value($0) })])
        #expect(summary == Summary(of: value))
    }

    @Test func `A long sequence starts with its last replacement when composed`() throws {
        func patch(_ wire: Value) throws -> Patch { try Patch(decoding: wire.encoded) }
        let splice = try patch([0, 0, [1]])
        #expect(try splice.composed(with: patch([[0, 1, []], [[[5]], [1, 0, [6]]]])).description == "[[5,6]]")
    }

    @Test
    func `A long sequence of a removal and a change of the removed entry fits no value, nor does it composed`() throws {
        var value: Value = ["a": ["x": 0]]
        let removal = try Patch(decoding: Value.map(["a": .null]).encoded)
        let composed = removal.composed(with: try Patch(decoding: Value.map(["a": ["x": [1]]]).encoded))
        #expect(throws: CodingFailure.self) { try composed.apply(to: &value) }
        #expect(value == ["a": ["x": 0]])
    }

    /// A sequence of nested halves, as on the wire.
    private func nested(_ parts: ArraySlice<Value>) -> Value {
        guard parts.count > 1, let first = parts.first else { return parts.first ?? [:] }
        let middle = parts.startIndex + parts.count / 2
        return parts.count == 2
            ? [first, parts[middle]] : [nested(parts[..<middle]), nested(parts[middle...])]
    }
}

extension SeededGenerator {
    /// A patch in its wire form that fits a value: it changes one place, or two in sequence.
    fileprivate mutating func patch(of value: Value) -> Value {
        switch value {
        case .map(let map) where !map.isEmpty && below(25) > 0:
            let key = pick(map.keys)
            switch below(12) {
            case 0: return .map([pick([key, "new"]): [self.value(depth: 2)]])
            case 1 where map.count > 1 && key != "long": return .map([key: .null])
            default: return .map([key: patch(of: map[key] ?? .null)])
            }
        case .array(let elements) where below(25) > 0:
            switch below(5) {
            case 0 where !elements.isEmpty:
                let index = below(elements.count)
                return .map([Value(index): patch(of: elements[index])])
            case 1:
                let first = splice(elements.count)
                guard case .array(let parts) = first, case .array(let inserted) = parts[2],
                    case .unsigned(let removed) = parts[1]
                else { return first }
                return [first, splice(elements.count - Int(removed) + inserted.count)]
            default: return splice(elements.count)
            }
        case .array, .map: return [value]
        default: return [self.value(depth: 1)]
        }
    }

    private mutating func splice(_ count: Int) -> Value {
        let offset = below(count + 1)
        let removed = below(min(count - offset, below(40) == 0 ? 60 : 4) + 1)
        let inserted = below(40) == 0 ? 30 : below(4)
        return [
            Value(offset), Value(removed), .array((0..<inserted).map { below(9) == 0 ? ["n": Value($0)] : Value($0) }),
        ]
    }
}
