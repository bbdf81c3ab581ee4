extension Int {
    /// The sum, or the end of the range that it lies beyond.
    func clampedAdding(_ other: Int) -> Int {
        let (sum, overflowed) = addingReportingOverflow(other)
        guard overflowed else { return sum }
        return other > 0 ? .max : .min
    }

    /// The difference, or the end of the range that it lies beyond.
    func clampedSubtracting(_ other: Int) -> Int {
        let (difference, overflowed) = subtractingReportingOverflow(other)
        guard overflowed else { return difference }
        return other > 0 ? .min : .max
    }
}
