public import StateCoding

/// An action that a store knows, for people and tools.
public struct ActionDescription: Hashable, Sendable {
    /// Its name on the wire.
    public let name: String
    /// A payload that could be sent; `nil` where the action's type gives none.
    public let example: Value?
}
