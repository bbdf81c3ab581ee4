/// Predicts whether a batch of steps is quick enough for the loop: from its size, and the duration of the last one.
struct DocumentPace {
    /// The duration of the last batch.
    var last = Duration.zero

    /// A loop that is busy for this long delays messages, but no heartbeat.
    private static let durationMax = Duration.milliseconds(1)
    private static let bytesMax = 16 << 10

    /// Snapshots and digests depend on the size of the state, patches on the size of the change.
    func isQuick(_ batch: DocumentQueue.Batch) -> Bool {
        last <= Self.durationMax && batch.bytes <= Self.bytesMax
            && batch.steps.allSatisfy { step in
                switch step {
                case .apply, .status: true
                case .install, .verify: false
                }
            }
    }
}
