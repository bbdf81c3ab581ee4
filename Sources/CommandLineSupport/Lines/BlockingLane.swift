internal import Dispatch
internal import Synchronization

/// A thread for calls that block, one after the other, so that none of them holds up a task.
///
/// Whoever is cancelled goes on without the call: it cannot be ended, but the process can.
final class BlockingLane: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// - Throws: `CancellationError`.
    func run<T: Sendable>(_ call: @escaping @Sendable () -> T) async throws -> T {
        let caller = Caller<T>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                guard caller.waits(continuation) else { return }
                queue.async { caller.resume(.success(call())) }
            }
        } onCancel: {
            caller.resume(.failure(CancellationError()))
        }
    }

    /// Resumed once, by whichever comes first.
    private final class Caller<T: Sendable>: Sendable {
        private enum Phase: Sendable {
            case arriving
            case waiting(CheckedContinuation<T, any Error>)
            case gone
        }

        private let phase = Mutex(Phase.arriving)

        /// False if it was cancelled before it could wait.
        func waits(_ continuation: CheckedContinuation<T, any Error>) -> Bool {
            let isGone = phase.withLock { phase in
                if case .gone = phase { return true }
                phase = .waiting(continuation)
                return false
            }
            if isGone { continuation.resume(throwing: CancellationError()) }
            return !isGone
        }

        func resume(_ result: sending Result<T, any Error>) {
            let continuation: CheckedContinuation<T, any Error>? = phase.withLock { phase in
                defer { phase = .gone }
                guard case .waiting(let continuation) = phase else { return nil }
                return continuation
            }
            continuation?.resume(with: result)
        }
    }
}
