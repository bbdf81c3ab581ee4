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
        try checkLaws(states)
    }

    private func check<T: Generated>(_ type: T.Type, _ generator: inout SeededGenerator) throws {
        var states = [T.make(&generator)]
        for _ in 0..<8 {
            var next = states[states.count - 1]
            next.change(&generator)
            states.append(generator.below(6) == 0 ? T.make(&generator) : next)
        }
        try checkLaws(states)
    }
}
