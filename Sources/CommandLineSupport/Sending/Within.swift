internal import ServiceLifecycle

/// Runs the work for at most so long; `nil`: as long as it takes.
///
/// - Throws: `CancellationError` when the time is over.
func within<T: Sendable>(_ timeout: Duration?, _ work: @escaping @Sendable () async throws -> T) async throws -> T {
    guard let timeout else { return try await work() }
    return try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: timeout)
            throw CancellationError()
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

extension Upstream {
    /// Asks the primary something, until it answers, the time is over or the process is asked to stop.
    ///
    /// - Throws: ``CommandFailure`` where no answer came.
    func answer<T: Sendable>(
        within timeout: Duration?,
        to question: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        do {
            return try await cancelWhenGracefulShutdown { try await CommandLineSupport.within(timeout, question) }
        } catch is CancellationError {
            let cause = timeout.map { "no answer within \($0)" } ?? "interrupted"
            throw CommandFailure.failed(
                "\(cause): no primary answered at \(endpoint); check that statecast-primary runs there, or wait for it with "
                    + "--wait"
            )
        }
    }
}
