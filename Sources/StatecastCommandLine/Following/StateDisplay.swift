package import Statecast
package import StatecastCoding

/// A replica's view of a store at one moment.
package struct FollowedState: Sendable {
    package let upstream: Upstream
    package let status: ReplicaStatus
    /// `nil` before the first state.
    package let position: Position?
    /// The selected part of the state.
    package let part: Value?
    /// Whether the part is the whole state.
    package let isWhole: Bool
    /// The time by the primary's clock.
    package let primaryTime: Timestamp?

    /// Store, revision, status and endpoint in one line.
    package var title: String {
        let revision = position.map { "revision \($0.revision)" } ?? "no state yet"
        let word =
            switch status {
            case .joining: "joining"
            case .live: "live"
            case .stale: "stale: the primary is silent"
            case .refused, .incompatible: "refused"
            }
        return "\(upstream.store), \(revision), \(word), from \(upstream.endpoint)"
    }
}

/// An output for states.
package protocol StateDisplay: Sendable {
    /// How often to show the same state again because time passes; `nil`: never.
    var interval: Duration? { get }

    /// Shows the current state.
    ///
    /// - Parameters:
    ///   - isNew: whether this is the first call with this state.
    ///   - isLast: whether this is the last call.
    mutating func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws
}

/// Writes each live state as a line: `{"lineage":"...","epoch":1,"revision":3,"state":{...}}`. Writes a selected part
/// only when it changes, and for the last state.
package struct JSONLines: StateDisplay {
    private let output: LineOutput
    private let mode: DrawMode
    private var shown: Value?

    package init(_ output: LineOutput, mode: DrawMode = .live) { (self.output, self.mode) = (output, mode) }

    package var interval: Duration? { nil }

    package mutating func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws {
        guard isNew, let position = state.position, let part = state.part,
            isLast || mode == .live && (state.isWhole || part != shown)
        else {
            return
        }
        shown = state.isWhole ? nil : part
        let line = JSONLine([
            "lineage": .text(position.lineage.description), "epoch": Value(position.epoch.rawValue),
            "revision": Value(position.revision.rawValue), "state": part,
        ])
        try await output.write(line.description)
    }
}
