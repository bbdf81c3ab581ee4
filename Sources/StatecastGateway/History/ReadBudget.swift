/// What one request may read of the journal.
struct ReadBudget {
    let deadline: ContinuousClock.Instant
    private(set) var bytesLeft: Int

    /// Of one request.
    static let time = Duration.milliseconds(500)
    static let bytes = 64 << 20
    /// Read between two looks at the clock.
    static let window = 1 << 20

    init(from now: ContinuousClock.Instant = .now) {
        (deadline, bytesLeft) = (now + Self.time, Self.bytes)
    }

    mutating func spend(_ bytes: Int) { bytesLeft -= bytes }

    var isSpent: Bool { bytesLeft <= 0 || .now >= deadline }
}
