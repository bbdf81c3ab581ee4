/// Keeps a state, and can be asked for it at any time: a core, or a scope of one.
public protocol StateKeeper<State>: StateSource {
    /// The current state.
    var state: State { get }
}

extension Core: StateKeeper {}
