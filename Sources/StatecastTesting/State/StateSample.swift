internal import StateCoding

/// A state to check with, and its encoding.
struct StateSample<State> {
    /// How messages name it.
    let name: String
    let state: State
    let bytes: [UInt8]
    let tree: Value
    let summary: Summary
}
