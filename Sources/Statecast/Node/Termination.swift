internal import ServiceLifecycle
internal import Threading

/// Ends a node's `run()`: when its task is cancelled, when the service group shuts down, or when the node fails.
struct Termination: Sendable {
    private let failure = Monitor<StatecastError?>(nil)

    /// The node cannot go on.
    func fail(_ failure: StatecastError) { self.failure.change { $0 = failure } }

    /// Waits until the task is cancelled, the service group shuts down, or the node fails.
    ///
    /// - Returns: the failure, if that is the reason.
    func wait() async -> StatecastError? {
        await cancelWhenGracefulShutdown { try? await failure.wait { $0 } }
    }
}
