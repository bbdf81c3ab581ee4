import ServiceLifecycle
import StatecastThreading

/// The lifecycle of a node's `run()`: it begins once, and ends when its task is cancelled, when the service group shuts
/// down, or when the node ends it.
struct Termination: Sendable {
    private enum Phase: Sendable {
        case created
        case running
        case ended(StatecastError?)
    }

    private let phase = Monitor(Phase.created)

    /// - Throws: ``StatecastError`` with code `closed` if `run()` has begun or the node has ended.
    func begin() throws(StatecastError) {
        let isFirst = phase.change { phase in
            guard case .created = phase else { return false }
            phase = .running
            return true
        }
        guard isFirst else {
            throw StatecastError(.closed, "run() was called before, and works once: create another node")
        }
    }

    /// Ends `run()`, with a failure if the node cannot go on; the first call counts.
    func end(_ failure: StatecastError? = nil) {
        phase.change { phase in
            if case .ended = phase { return }
            phase = .ended(failure)
        }
    }

    /// Whether `run()` was not called, and the node exists.
    var isPending: Bool {
        if case .created = phase.value { true } else { false }
    }

    var hasEnded: Bool {
        if case .ended = phase.value { true } else { false }
    }

    /// Waits for the end.
    ///
    /// - Returns: the failure, if that is the reason.
    func wait() async -> StatecastError? {
        await cancelWhenGracefulShutdown {
            try? await phase.wait { if case .ended(let failure) = $0 { .some(failure) } else { nil } }
        } ?? nil
    }
}
