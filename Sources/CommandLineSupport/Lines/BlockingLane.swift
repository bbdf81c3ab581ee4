internal import Dispatch
internal import Locking

/// Runs blocking calls one after the other on a thread of its own, so that none of them blocks a task's thread.
///
/// A cancelled caller continues without the call, which cannot be interrupted.
final class BlockingLane: Sendable {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    /// - Throws: `CancellationError`.
    func run<T: Sendable>(_ call: @escaping @Sendable () -> T) async throws -> T {
        try Task.checkCancellation()
        let result = Monitor<T?>(nil)
        queue.async {
            let value = call()
            result.change { $0 = value }
        }
        return try await result.wait { $0 }
    }
}
