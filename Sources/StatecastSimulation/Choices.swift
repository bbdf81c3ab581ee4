import StatecastThreading

extension SplitMix64 {
    /// A generator for a part of the simulation, whose numbers do not depend on those that other parts draw.
    mutating func split() -> SplitMix64 { SplitMix64(seed: next()) }

    mutating func from(_ choices: ClosedRange<Int>) -> Int { choices.lowerBound + below(choices.count) }
    mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// A duration between two others. Each order of magnitude is equally likely, so that short and long ones occur.
    mutating func duration(_ range: ClosedRange<Duration>) -> Duration {
        let (low, high) = (range.lowerBound / .microseconds(1), range.upperBound / .microseconds(1))
        let orders = max(0, Int(high / max(1, low)).bitWidth - Int(high / max(1, low)).leadingZeroBitCount - 1)
        let base = max(1, low) * Double(1 << below(orders + 1))
        return .microseconds(Int64(min(high, base * (1 + Double(below(1000)) / 1000))))
    }
}
