import StatecastCore

/// Marks the action that is being reduced, so that one whose reduction ends the process is known at the next start.
package protocol ReductionMarking {
    /// Before an action of a sender is decoded.
    func begin(_ session: SessionID, _ number: ActionNumber)
    /// After its reduction.
    func end()
}

/// An action that may have crashed the process.
package struct Suspect: Hashable, Sendable {
    package let session: SessionID
    package let number: ActionNumber
    /// Whether it crashed the process so often that it must not be reduced again.
    package let isPoison: Bool

    package init(session: SessionID, number: ActionNumber, isPoison: Bool) {
        self.session = session
        self.number = number
        self.isPoison = isPoison
    }
}

/// The suspects whose outcomes are not known yet.
struct Suspects: Hashable, Sendable {
    private var suspects: [Suspect]

    init(_ suspects: [Suspect]) { self.suspects = suspects }

    func containsPoison(_ session: SessionID, _ number: ActionNumber) -> Bool {
        !suspects.isEmpty && suspects.contains { $0.isPoison && $0.session == session && $0.number == number }
    }

    /// Removes and returns those with an outcome: they did not crash the process, or will not be reduced again.
    mutating func removeResolved(by outcomes: [SessionOutcomes]) -> [Suspect] {
        guard !suspects.isEmpty else { return [] }
        let resolved = suspects.filter { suspect in
            outcomes.contains { $0.session == suspect.session && $0.outcomes.outcome(of: suspect.number) != nil }
        }
        suspects.removeAll { resolved.contains($0) }
        return resolved
    }
}

extension Rejection {
    /// - Parameter name: the action's name; `nil` if the store has no such action.
    static func crashedReducer(_ name: String?) -> Rejection {
        Rejection(
            .crashedReducer,
            "the primary crashed twice in a row while it reduced \(name ?? "this action"), and does not try again"
        )
    }
}
