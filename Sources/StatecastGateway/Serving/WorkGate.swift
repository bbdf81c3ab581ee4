import Statecast
import StatecastThreading

/// Runs work that takes long or blocks on threads of its own, a few at a time.
final class WorkGate: Sendable {
    private struct Load {
        var running = 0
        /// Those that run, too.
        var admitted = 0
    }

    private static let maxAdmitted = 32

    private let load = Monitor(Load())
    private let maxRunning: Int

    init(maxRunning: Int) { self.maxRunning = maxRunning }

    /// Runs work when fewer than `maxRunning` others run.
    ///
    /// - Throws: ``GatewayFailure`` with code `busy`; what `work` throws.
    func run<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
        let isAdmitted = load.change { load in
            guard load.admitted < Self.maxAdmitted else { return false }
            load.admitted += 1
            return true
        }
        guard isAdmitted else { throw GatewayFailure(.busy, "too many requests are queued; try again", retryAfter: 1) }
        defer { load.change { $0.admitted -= 1 } }
        _ = try await load.wait { [maxRunning] load -> Bool? in
            guard load.running < maxRunning else { return nil }
            load.running += 1
            return true
        }
        defer { load.change { $0.running -= 1 } }
        return try await Threads.runBlocking(work)
    }
}
