package import StatecastCore

/// The number of actions by outcome.
package struct OutcomeCounts: Hashable, Sendable {
    package private(set) var applied = 0
    package private(set) var rejected: [Rejection.Code: Int] = [:]

    package init() {}

    /// - Parameter code: of the actions' rejection; `nil` if they are applied.
    package mutating func add(_ count: Int = 1, rejectedAs code: Rejection.Code?) {
        if let code { rejected[code, default: 0] += count } else { applied += count }
    }

    /// The number of all actions.
    package var total: Int { applied + rejected.values.reduce(0, +) }
}
