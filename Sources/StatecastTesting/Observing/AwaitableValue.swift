import StatecastThreading

/// A value that any thread may change, and that a test can wait for.
struct AwaitableValue<Value: Sendable>: Sendable {
    private let monitor: Monitor<Value>

    init(_ value: Value) { monitor = Monitor(value) }

    /// The current value.
    var value: Value { monitor.value }

    /// Changes the value, and resumes the tasks whose conditions it then meets, the longest waiting first.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result { monitor.change(body) }

    /// Waits until `condition` returns a value, now or after a later change.
    ///
    /// - Parameters:
    ///   - patience: a guard against waiting for ever; nil waits without a limit.
    ///   - condition: called with the lock held. It may change the value, for example dequeue an element.
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
