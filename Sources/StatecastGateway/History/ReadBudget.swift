/// The time and the bytes that one request may use to read the journal.
struct ReadBudget {
    let deadline = ContinuousClock.now + Self.time
    private(set) var bytesLeft = Self.bytes

    /// Of one request.
    static let time = Duration.milliseconds(500)
    static let bytes = 64 << 20
    /// Read between two looks at the clock.
    static let window = 1 << 20

    mutating func spend(_ bytes: Int) { bytesLeft -= bytes }

    var isSpent: Bool { bytesLeft <= 0 || .now >= deadline }
}
