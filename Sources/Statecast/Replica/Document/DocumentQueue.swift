import StatecastThreading

/// A step of a document, enqueued by the loop.
package enum DocumentStep: Sendable {
    case install(snapshot: [UInt8], Position, digest: UInt64)
    case apply(patch: [UInt8], Position)
    case verify(Position, digest: UInt64)
    case verified(DocumentVerificationResult)
    case status(ReplicaStatus)

    /// The approximate memory that it occupies.
    package var bytes: Int {
        switch self {
        case .install(let snapshot, _, _): snapshot.count
        case .apply(let patch, _): patch.count + 64
        case .verify, .verified, .status: 64
        }
    }
}

/// The steps between the loop, which must not wait, and the document, which may be slow.
///
/// The document dequeues all steps at once, so a slow document skips intermediate states instead of lagging.
package final class DocumentQueue: Sendable {
    package struct Batch: Sendable {
        package var steps: [DocumentStep] = []
        /// The approximate memory of the steps.
        var bytes = 0
        /// Whether the queue was full since the last batch, so that the producer waits for room.
        package var wasFull = false
        var hasSnapshot: Bool {
            steps.contains { step in if case .install = step { true } else { false } }
        }
    }

    private struct Storage: Sendable {
        var batch = Batch()
        var isSignaled = false
        var isFinished = false
    }

    private let storage = Monitor(Storage())

    package func enqueue(_ step: DocumentStep) {
        storage.change { storage in
            storage.batch.steps.append(step)
            storage.batch.bytes += step.bytes
            storage.isSignaled = true
        }
    }

    /// Whether the queue holds `maxBytes` bytes. If so, the next batch reports that it was full.
    func isFull(maxBytes: Int) -> Bool {
        storage.change { storage in
            guard storage.batch.bytes >= maxBytes else { return false }
            storage.batch.wasFull = true
            return true
        }
    }

    /// Wakes the consumer, with an empty batch if no step is queued: observers wait to be added or removed.
    func wake() { storage.change { $0.isSignaled = true } }

    /// Ends ``forEachBatch(_:)`` once it has handed out all steps.
    func finish() { storage.change { $0.isFinished = true } }

    /// Passes all queued steps to `body`, repeatedly, until the queue is finished or the task is cancelled. For one
    /// consumer.
    func forEachBatch(_ body: (Batch) async -> Void) async {
        while let batch = await next() { await body(batch) }
    }

    /// Dequeues when the consumer runs, not when it is woken: steps that arrive meanwhile belong to the batch.
    private func next() async -> Batch? {
        try? await storage.wait { $0.isSignaled || $0.isFinished ? () : nil }
        return Task.isCancelled ? nil : dequeue()
    }

    /// All queued steps; `nil` if nothing has happened since the last call.
    package func dequeue() -> Batch? {
        storage.change { storage in
            guard storage.isSignaled else { return nil }
            defer { storage = Storage(isFinished: storage.isFinished) }
            return storage.batch
        }
    }

    /// Whether ``dequeue()`` returns steps.
    package var isSignaled: Bool { storage.value.isSignaled }
}
