/// Random numbers that a seed reproduces (SplitMix64). The seed is an argument of a test, so that a failure shows it.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
    mutating func pick<C: RandomAccessCollection>(_ choices: C) -> C.Element {
        choices[choices.index(choices.startIndex, offsetBy: below(choices.count))]
    }
}

/// The seeds of a property test: all of them in a release build, the first fifth in a debug build, which is ten times
/// slower. CI runs both.
func seeds(_ all: Range<UInt64>) -> Range<UInt64> {
    #if DEBUG
        all.lowerBound..<(all.lowerBound + max(1, UInt64(all.count) / 5))
    #else
        all
    #endif
}
