internal import ServiceLifecycle

/// Runs the work with a time limit; `nil`: without one.
///
/// - Throws: ``TimedOut`` when the time limit expires.
func within<T: Sendable>(_ timeout: Duration?, _ work: @escaping @Sendable () async throws -> T) async throws -> T {
    guard let timeout else { return try await work() }
    return try await withThrowingTaskGroup(of: T.self) { group in
        group.addTask { try await work() }
        group.addTask {
            try await Task.sleep(for: timeout)
            throw TimedOut(limit: timeout)
        }
        defer { group.cancelAll() }
        guard let value = try await group.next() else { throw CancellationError() }
        return value
    }
}

/// The time limit of ``within(_:_:)`` expired.
struct TimedOut: Error { let limit: Duration }

extension Upstream {
    /// Asks the primary something, until it answers, the time limit expires or the process is asked to stop.
    ///
    /// - Throws: ``CommandFailure`` where no answer came.
    func answer<T: Sendable>(
        within timeout: Duration?,
        to question: @escaping @Sendable () async throws -> T
    ) async throws -> T {
        do {
            return try await cancelWhenGracefulShutdown { try await CommandLineSupport.within(timeout, question) }
        } catch let expired as TimedOut {
            throw unanswered("no answer within \(expired.limit)")
        } catch is CancellationError {
            throw unanswered("interrupted")
        }
    }

    private func unanswered(_ cause: String) -> CommandFailure {
        .failed(
            "\(cause): no primary answered at \(endpoint); check that statecast-primary runs there, or wait for it with --wait"
        )
    }
}
