/// What a core answers to an action that was awaited.
public struct Reply: Sendable {
    /// The first revision that contains the action; if a middleware answered in its place, the current one.
    public let revision: UInt64
    /// What a middleware, such as a thunk, answered with; nil if none did.
    public let value: (any Sendable)?
}
