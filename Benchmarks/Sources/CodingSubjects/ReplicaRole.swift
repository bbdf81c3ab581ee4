package import StateCoding

/// What a replica does for each update, but for its network.
package struct ReplicaRole<Rows: VehicleRows> {
    package private(set) var state: World<Rows>
    /// From where the run began: only changes of it are compared.
    package private(set) var summary = Summary(digest: 0, bytes: 0)
    /// As an observer keeps what it was shown last.
    private var old: World<Rows>

    package init(_ state: World<Rows>) {
        self.state = state
        old = state
    }

    /// Applies the next patch.
    package mutating func apply(_ patch: [UInt8]) throws(CodingFailure) {
        try Patch(decoding: patch).apply(to: &state)
    }

    /// Brings the digest up to what was applied last.
    package mutating func digest() throws(CodingFailure) {
        summary.advance(by: try Differ.patch(from: old, to: state))
    }

    /// The new state has been seen: the old one goes.
    package mutating func show() {
        old = state
    }
}
