import StatecastCoding
import Testing

/// Laws for any type and any values. Types and values are generated from the seed, which a failure shows.
@Suite struct `The laws of coding and patches` {
    @Test(arguments: seeds(0..<150))
    func `The laws of coding and patches hold for generated types and values`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<4 {
            let type = generator.type(depth: 1 + generator.below(3))
            try check(type, &generator)
        }
    }

    @Test(arguments: seeds(0..<40))
    func `The laws of coding and patches hold for a state with every kind of field`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var states = [World()]
        for _ in 0..<12 {
            var next = states[states.count - 1]
            generator.change(&next)
            states.append(next)
        }
        try check(states)
    }

    private func check<T: Generated>(_ type: T.Type, _ generator: inout SeededGenerator) throws {
        var states = [T.make(&generator)]
        for _ in 0..<8 {
            var next = states[states.count - 1]
            next.change(&generator)
            states.append(generator.below(6) == 0 ? T.make(&generator) : next)
        }
        try check(states)
    }

    private func check<T: Codable & Equatable>(_ states: [T]) throws {
        let (encoder, decoder) = (StateEncoder(), StateDecoder())
        let type: Comment = "\(T.self)"
        let first = try encoder.value(of: states[0])
        var (tree, typed, summary) = (first, states[0], Summary(of: first))
        var composed = Patch.none
        for (old, new) in zip(states, states.dropFirst()) {
            let bytes = try encoder.encode(new)
            let after = try encoder.value(of: new)
            let difference = try Differ.patch(from: old, to: new)
            let patch = try Patch(decoding: difference.patch.encode())

            // Round trips, and one encoding for each value.
            #expect(try Value(decoding: bytes) == after, type)
            #expect(after.encoded == bytes, type)
            #expect(try decoder.decode(T.self, from: bytes) == new, type)
            #expect(patch == difference.patch, type)
            // apply(diff(a, b), to: a) == b, typed and untyped.
            try patch.apply(to: &typed)
            #expect(typed == new, type)
            #expect(try encoder.value(of: typed) == after, type)
            let before = summary
            try patch.apply(to: &tree, summary: &summary)
            #expect(tree == after, type)
            // diff(a, a) is empty; values with the same encoding are equal.
            #expect(try Differ.patch(from: new, to: new).isEmpty, type)
            #expect(try difference.isEmpty == (encoder.value(of: old) == after), type)
            // Digests agree on both sides.
            var advanced = before
            advanced.advance(by: difference)
            #expect(advanced == summary, type)
            #expect(summary == Summary(of: after), type)
            composed = composed.composed(with: patch)
        }
        // Patches compose.
        var (atOnce, typedAtOnce) = (first, states[0])
        try Patch(decoding: composed.encode()).apply(to: &atOnce)
        try composed.apply(to: &typedAtOnce)
        #expect(atOnce == tree, type)
        #expect(typedAtOnce == typed, type)
    }
}
