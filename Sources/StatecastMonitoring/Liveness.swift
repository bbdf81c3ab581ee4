import Statecast
import StatecastThreading

/// Whether the loops of nodes answer.
final class Liveness: Sendable {
    /// A loop that has not answered for so long is not live.
    static let limit = Duration.seconds(10)

    private let nodes: [NodeHealth]
    /// When each loop was asked, until it answers.
    private let asked: Locked<[ContinuousClock.Instant?]>

    init(_ nodes: [NodeHealth]) {
        self.nodes = nodes
        asked = Locked(Array(repeating: nil, count: nodes.count))
    }

    /// Asks the loops that have nothing to answer yet.
    func ask(at now: ContinuousClock.Instant = .now) {
        for (index, node) in nodes.enumerated() {
            let isNew = asked.withLock { asked in
                guard asked[index] == nil else { return false }
                asked[index] = now
                return true
            }
            if isNew { node.wake { [asked] in asked.withLock { $0[index] = nil } } }
        }
    }

    /// For how long each loop has not answered; zero if it has.
    func silences(at now: ContinuousClock.Instant = .now) -> [Duration] {
        asked.withLock { $0.map { $0.map { $0.duration(to: now) } ?? .zero } }
    }
}
