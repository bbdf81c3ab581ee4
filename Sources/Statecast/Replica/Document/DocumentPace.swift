/// Predicts whether a batch of steps is quick enough for the loop: from its size, and the durations of the last ones.
struct DocumentPace {
    /// The duration of the last batch that showed a state; half of the one before if that is longer.
    private(set) var recent = Duration.zero

    /// A loop that is busy for this long delays messages, but loses none.
    private static let maxDuration = Duration.milliseconds(1)
    private static let maxBytes = 16 << 10

    /// Snapshots depend on the size of the state, patches on the size of the change; digests are compared elsewhere.
    func isQuick(_ batch: DocumentQueue.Batch) -> Bool {
        recent <= Self.maxDuration && batch.bytes <= Self.maxBytes
            && batch.steps.allSatisfy { step in
                switch step {
                case .apply, .verify, .verified, .status: true
                case .install: false
                }
            }
    }

    /// A batch showed a state, within this time.
    mutating func showed(in duration: Duration) { recent = max(duration, recent / 2) }
}
