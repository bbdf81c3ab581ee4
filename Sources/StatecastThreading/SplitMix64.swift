/// Random numbers that a seed reproduces: SplitMix64, by Sebastiano Vigna.
///
/// Its numbers can be predicted, so they are for delays and tests, not for secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    package mutating func below(_ bound: Int) -> Int { Int(next(upperBound: UInt64(bound))) }
    package mutating func oneIn(_ count: Int) -> Bool { below(count) == 0 }
}
