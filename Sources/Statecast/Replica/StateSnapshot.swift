/// A state as a replica shows it, and which one it is.
public struct StateSnapshot<State: Sendable>: Sendable {
    /// The state.
    public let state: State
    /// Which state of which history it is.
    public let position: Position

    /// The last change that it contains.
    public var revision: Revision { position.revision }
    /// The incarnation of the primary that published it.
    public var epoch: Epoch { position.epoch }
}
