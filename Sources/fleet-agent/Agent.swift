import FleetApp
import HostSampling
import Logging
import ServiceLifecycle
import Statecast

/// Samples and sends, one sample after the other.
struct Agent: Sendable {
    private let sender: ActionSender
    private let interval: Duration
    private let logger: Logger
    private let sampler = HostSampler()

    /// A sample that waits is worth less than the next one, but a primary needs a moment to answer.
    private var patience: Duration { max(interval, .seconds(1)) }

    init(_ sender: ActionSender, interval: Duration, logger: Logger) {
        self.sender = sender
        self.interval = interval
        self.logger = logger
    }

    /// Goes on until the process is asked to stop.
    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            var next = ContinuousClock.now
            var complaint: String?
            while true {
                let trouble = await sampleAndSend()
                // The same trouble every two seconds is one trouble.
                if let trouble, trouble != complaint { logger.warning("\(trouble)") }
                complaint = trouble
                repeat { next = next.advanced(by: interval) } while next < .now
                try await Task.sleep(until: next)
            }
        }
    }

    /// - Returns: what went wrong, if it is worth a word. That the primary is away is said elsewhere.
    private func sampleAndSend() async -> String? {
        let sample: Sample
        do { sample = try sampler.sample() } catch { return "cannot sample this machine: \(error)" }
        do {
            try await sender.send(HostSampled(host: sampler.hostName, sample: sample), timeout: patience)
            return nil
        } catch let rejection as Rejection {
            let isLate = rejection.code == .notSent || rejection.code == .outcomeUnknown
            return isLate ? nil : "the sample was rejected: \(rejection)"
        } catch {
            return "cannot send the sample: \(error)"
        }
    }
}
