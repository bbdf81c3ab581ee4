internal import Synchronization

/// What the loop hands to a document, in order.
enum DocumentStep: Sendable {
    case install(snapshot: [UInt8], Position, digest: UInt64)
    case apply(patch: [UInt8], Position)
    case verify(Position, digest: UInt64)
    case status(ReplicaStatus)

    /// About how much memory it holds.
    var bytes: Int {
        switch self {
        case .install(let snapshot, _, _): snapshot.count
        case .apply(let patch, _): patch.count + 64
        case .verify, .status: 64
        }
    }
}

/// The steps between the loop, which must not wait, and the document, which may be slow. All that has gathered is
/// taken at once, so that a slow document shows every n-th state instead of falling behind.
final class DocumentQueue: Sendable {
    private struct Storage {
        var steps: [DocumentStep] = []
        var bytes = 0
        var wasFull = false
    }

    private let storage = Mutex(Storage())
    private let signal: AsyncStream<Void>.Continuation
    private let signals: AsyncStream<Void>

    init() {
        (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func append(_ step: DocumentStep) {
        let wasEmpty = storage.withLock { storage in
            storage.steps.append(step)
            storage.bytes += step.bytes
            return storage.steps.count == 1
        }
        if wasEmpty { signal.yield() }
    }

    /// Whether so many bytes wait to be taken that no more should come; if so, whoever takes them is told.
    func isFull(bytesMax: Int) -> Bool {
        storage.withLock { storage in
            guard storage.bytes >= bytesMax else { return false }
            storage.wasFull = true
            return true
        }
    }

    /// Whoever takes the steps is called once more, also if there are none: it has something else to look at.
    func nudge() { signal.yield() }

    func finish() { signal.finish() }

    /// Hands over what has gathered, again and again, until the queue is finished. One consumer only.
    func forEachBatch(_ body: (_ steps: [DocumentStep], _ wasFull: Bool) async -> Void) async {
        for await _ in signals {
            let taken = storage.withLock { storage in
                defer { storage = Storage() }
                return storage
            }
            await body(taken.steps, taken.wasFull)
        }
    }
}
