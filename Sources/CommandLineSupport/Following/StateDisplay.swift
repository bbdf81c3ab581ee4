package import StateCoding
package import Statecast

/// What there is to show of a store at one moment.
package struct FollowedState: Sendable {
    /// The store, and where it comes from.
    package let upstream: Upstream
    /// How the state relates to the primary.
    package let status: ReplicaStatus
    /// Which state it is; `nil` before the first.
    package let position: Position?
    /// The selected part of it.
    package let part: Value?
    /// Whether the part is all of it.
    package let isWhole: Bool
    /// The primary's clock.
    package let primaryTime: Timestamp?

    /// Store, revision, status and source in one line.
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

/// Something that shows states.
package protocol StateDisplay: Sendable {
    /// How often to show the same state again because time has passed; `nil`: never.
    var interval: Duration? { get }

    /// Shows the state as it is now.
    ///
    /// - Parameters:
    ///   - isNew: whether this state was not shown before.
    ///   - isLast: whether no other is shown behind it.
    mutating func show(_ state: FollowedState, isNew: Bool, isLast: Bool) async throws

    /// Nothing more is shown, whatever the reason.
    mutating func close()
}
