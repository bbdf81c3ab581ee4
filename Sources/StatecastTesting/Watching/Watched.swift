internal import Threading

/// A value that any thread may change, and that a test can wait for.
struct Watched<Value: Sendable>: Sendable {
    private let monitor: Monitor<Value>

    init(_ value: Value) { monitor = Monitor(value) }

    /// The current value.
    var value: Value { monitor.value }

    /// Changes the value, and resumes the tasks that wait for that, the longest waiting first.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result { monitor.change(body) }

    /// Waits until `condition` returns a value, at most as long as `patience`.
    ///
    /// - Parameters:
    ///   - patience: a guard against waiting for ever; nil to do just that.
    ///   - condition: called with the lock held. It may take what it finds out of the value.
    /// - Returns: nil if the patience or the calling task has ended.
    func first<Found: Sendable>(
        within patience: Duration?,
        _ condition: @escaping @Sendable (inout Value) -> Found?
    ) async -> Found? {
        guard let patience else { return try? await monitor.wait(for: condition) }
        let waiting = Task { try await monitor.wait(for: condition) }
        let timer = Task.detached {
            try? await Task.sleep(for: patience)
            waiting.cancel()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            try? await waiting.value
        } onCancel: {
            waiting.cancel()
        }
    }
}
