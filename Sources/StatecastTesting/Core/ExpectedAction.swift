internal import StateCore

/// Which action a test is about to receive.
struct ExpectedAction: Sendable {
    let name: String
    let matches: @Sendable (any Action) -> Bool
    /// The very action, if the test gave one.
    let action: (any Action)?

    init(name: String, matches: @escaping @Sendable (any Action) -> Bool) {
        self.name = name
        self.matches = matches
        action = nil
    }

    init(_ action: any Action) {
        name = type(of: action).name
        matches = { isSame($0, action) }
        self.action = action
    }

    /// Whether an action that does not match may be what the test meant.
    func resembles(_ other: any Action) -> Bool { action.map { type(of: $0) == type(of: other) } ?? false }
}
