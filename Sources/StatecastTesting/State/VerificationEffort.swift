internal import StateCoding

/// How much is tried out with one state: bounded, since all of it costs a pass over the state each time.
struct VerificationEffort {
    let variantsMax: Int
    /// Of which the order of elements is checked.
    let arraysMax: Int

    /// - Parameter count: how many states share the effort.
    init(for tree: Value, oneOf count: Int) {
        let affordable = 20_000 / tree.nodeCount / count
        variantsMax = min(max(affordable, 4), 200)
        arraysMax = min(max(affordable / 10, 1), 16)
    }
}
