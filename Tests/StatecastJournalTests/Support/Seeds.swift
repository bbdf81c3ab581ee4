import StatecastThreading

/// The seeds of a property test: all of them in a release build, the first fifth in a debug build, which is slower. CI
/// runs both.
func seeds(_ all: Range<UInt64>) -> Range<UInt64> {
    #if DEBUG
        all.lowerBound..<(all.lowerBound + max(1, UInt64(all.count) / 5))
    #else
        all
    #endif
}

extension SplitMix64 {
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }
}
