internal import Dispatch

/// Work that blocks its thread: apart from the threads that tasks run on, of which there are few.
enum BlockingWork {
    static func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global(qos: .userInitiated).async { continuation.resume(with: Swift.Result { try work() }) }
        }
    }
}
