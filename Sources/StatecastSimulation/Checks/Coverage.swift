import StatecastProtocol

/// How often each event of a machine happened in each of its phases.
package struct Coverage: Sendable {
    /// An event in a phase.
    package struct Pair: Hashable, Sendable, Comparable, CustomStringConvertible {
        let machine: String
        let phase: String
        let event: String

        package var description: String { "\(machine) \(phase): \(event)" }
        package static func < (left: Self, right: Self) -> Bool { "\(left)" < "\(right)" }
    }

    package private(set) var counts: [Pair: Int] = [:]

    /// Events of a replica other than frames.
    enum ReplicaInput: String, CaseIterable { case tick, documentFailed, documentConfirmed }
    /// Events of a sender other than frames, and changes of its user's rights.
    enum SenderInput: String, CaseIterable {
        case tick, submitted, acknowledged, pushed, blocked, writable, connected, connectFailed, saved, saveFailed
        case stopped, rightsChanged
    }

    /// Whether a machine cannot have an event in a phase. A sender pushes in `open` alone, and connects to the endpoint
    /// of a watermark, which opens it.
    private static func isImpossible(_ pair: Pair) -> Bool {
        let ofOpen: [SenderInput] = [.pushed, .blocked, .connected, .connectFailed]
        return pair.machine == "sender" && pair.phase != SenderMachine.PhaseName.open.rawValue
            && ofOpen.contains { $0.rawValue == pair.event }
    }

    /// All pairs, from the enumerations of phases and events, with the frames that a primary sends to each machine.
    package static let all: Set<Pair> = {
        let ofReplica = [FrameKind.update, .heartbeat, .welcome, .chunk, .refusal].map { "\($0)" }
        let ofSender = [FrameKind.watermark, .receipts, .expected, .refusal].map { "\($0)" }
        let replica = ReplicaMachine.PhaseName.allCases.flatMap { phase in
            (ofReplica + ReplicaInput.allCases.map(\.rawValue)).map {
                Pair(machine: "replica", phase: phase.rawValue, event: $0)
            }
        }
        let sender = SenderMachine.PhaseName.allCases.flatMap { phase in
            (ofSender + SenderInput.allCases.map(\.rawValue)).map {
                Pair(machine: "sender", phase: phase.rawValue, event: $0)
            }
        }
        return Set((replica + sender).filter { !isImpossible($0) })
    }()

    /// The pairs that did not happen.
    package var missing: [Pair] { Self.all.filter { counts[$0] == nil }.sorted() }

    mutating func note(_ phase: ReplicaMachine.PhaseName, _ frame: Frame) {
        note("replica", phase.rawValue, "\(frame.kind)")
    }
    mutating func note(_ phase: ReplicaMachine.PhaseName, _ input: ReplicaInput) {
        note("replica", phase.rawValue, input.rawValue)
    }
    mutating func note(_ phase: SenderMachine.PhaseName, _ frame: Frame) {
        note("sender", phase.rawValue, "\(frame.kind)")
    }
    mutating func note(_ phase: SenderMachine.PhaseName, _ input: SenderInput) {
        note("sender", phase.rawValue, input.rawValue)
    }

    private mutating func note(_ machine: String, _ phase: String, _ event: String) {
        counts[Pair(machine: machine, phase: phase, event: event), default: 0] += 1
    }

    /// Adds the counts of another run.
    package mutating func add(_ other: Coverage) { counts.merge(other.counts, uniquingKeysWith: +) }
}
