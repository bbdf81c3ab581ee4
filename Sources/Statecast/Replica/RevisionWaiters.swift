internal import Synchronization

/// Those who wait until a position is shown.
final class RevisionWaiters: Sendable {
    private struct Waiter {
        let position: Position
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Storage {
        var shown: Position?
        /// Lineages that were left: what they promised is not shown any more, and will not be.
        var left: [Lineage] = []
        var waiters: [UInt64: Waiter] = [:]
        var count: UInt64 = 0
        /// Why nothing is shown any more.
        var end: StatecastError?
        /// Why no state can be shown at present.
        var failure: Rejection?

        /// What to tell somebody who waits for a position; `nil`: to go on waiting.
        func answer(_ position: Position) -> Result<Void, any Error>? {
            if let end { return .failure(end) }
            if let shown, shown.lineage == position.lineage {
                if shown.revision >= position.revision { return .success(()) }
            }
            if let failure { return .failure(failure) }
            guard left.contains(position.lineage) else { return nil }
            return .failure(
                StatecastError(
                    .otherLineage,
                    "revision \(position.revision) belongs to a history that the primary no longer has"
                )
            )
        }

        mutating func answerAll() {
            for (key, waiter) in waiters {
                guard let answer = answer(waiter.position) else { continue }
                waiters[key] = nil
                waiter.continuation.resume(with: answer)
            }
        }
    }

    private let storage = Mutex(Storage())
    private static let lineagesRememberedMax = 64

    func shown(_ position: Position) {
        storage.withLock { storage in
            if let shown = storage.shown, shown.lineage != position.lineage {
                storage.left = storage.left.suffix(Self.lineagesRememberedMax - 1) + [shown.lineage]
                storage.left.removeAll { $0 == position.lineage }
            }
            storage.shown = position
            storage.failure = nil
            storage.answerAll()
        }
    }

    /// Nothing can be shown until another state fits.
    func fail(_ reason: Rejection) {
        storage.withLock { storage in
            storage.failure = reason
            storage.answerAll()
        }
    }

    /// Nothing is shown any more; the first reason counts.
    func close(because reason: StatecastError) {
        storage.withLock { storage in
            storage.end = storage.end ?? reason
            storage.answerAll()
        }
    }

    func wait(for position: Position) async throws {
        let key = storage.withLock { storage in
            storage.count += 1
            return storage.count
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let answer: Result<Void, any Error>? = storage.withLock { storage in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let answer = storage.answer(position) { return answer }
                    storage.waiters[key] = Waiter(position: position, continuation: continuation)
                    return nil
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            let waiter = storage.withLock { $0.waiters.removeValue(forKey: key) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
