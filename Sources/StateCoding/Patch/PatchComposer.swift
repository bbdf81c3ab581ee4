/// Composes many patches, one after the other, at a cost of O(n log n) for all of them.
///
/// A patch is composed with the one before as soon as that stands for as many: so neither is much larger than the other,
/// and nothing that is large is gone through for each small one. What is kept stays as small as composing makes it.
package struct PatchComposer: Sendable {
    /// Each stands for more than the next.
    private var runs: [(patch: Patch, count: Int)] = []

    package init() {}

    package var isEmpty: Bool { runs.isEmpty }

    package mutating func append(_ patch: consuming Patch) {
        if patch.isEmpty { return }
        runs.append((patch, 1))
        while runs.count > 1, runs[runs.count - 2].count <= runs[runs.count - 1].count { composeLast() }
    }

    /// All of them as one; from then on there are none.
    package mutating func finish() -> Patch {
        while runs.count > 1 { composeLast() }
        return runs.popLast()?.patch ?? .none
    }

    private mutating func composeLast() {
        let (later, count) = runs.removeLast()
        runs[runs.count - 1].patch.compose(with: later)
        runs[runs.count - 1].count += count
    }
}
