import StatecastCoding

/// A difference between two states at one place.
struct StateChange {
    enum Kind: String { case add, remove, replace }

    let kind: Kind
    let path: [String]
    let old: Value?
    let new: Value?
}

/// Finds the differences between two states: the operations of a JSON Patch, in the order of the state, which lead from
/// one to the other. Parts that both share in memory are skipped, so the cost follows the change.
struct StateChanges {
    let hidden: HiddenPaths
    /// How many levels below the start are compared; a container below them counts as its type and size.
    var depth = Int.max

    /// Calls `report` for each change at or below a path until it returns `false`; a value that is `nil`: the state has
    /// nothing there.
    func run(from old: Value?, to new: Value?, at path: [String], _ report: (StateChange) -> Bool) {
        _ = compare(old, new, path, hidden.inside(path), depth, report)
    }

    /// - Returns: whether the search goes on, as for all functions here.
    private func compare(
        _ old: Value?,
        _ new: Value?,
        _ path: [String],
        _ hidden: HiddenPaths,
        _ depth: Int,
        _ report: (StateChange) -> Bool
    ) -> Bool {
        func change(_ kind: StateChange.Kind) -> Bool {
            report(StateChange(kind: kind, path: path, old: old, new: new))
        }
        guard !hidden.hidesAll else { return true }
        guard let old, let new else { return old == nil && new == nil || change(old == nil ? .add : .remove) }
        switch (old, new) {
        case (.map(let before), .map(let after)):
            guard !before.isIdentical(to: after) else { return true }
            guard depth > 0 else { return before.count == after.count || change(.replace) }
            // A removal comes before an addition whose key may have the same name.
            var goesOn = true
            ValueMap.forEachDifference(from: before, to: after) { key, old, new in
                let name = key.keyName
                goesOn = goesOn && compare(old, new, path + [name], hidden.inside { name }, depth - 1, report)
            }
            return goesOn
        case (.array(let before), .array(let after)):
            guard depth > 0 else { return before.count == after.count || change(.replace) }
            return compare(before, after, path, hidden, depth, report)
        default: return old == new || change(.replace)
        }
    }

    /// What the arrays have in common at both ends stays; what is between is changed, removed or inserted.
    private func compare(
        _ old: [Value],
        _ new: [Value],
        _ path: [String],
        _ hidden: HiddenPaths,
        _ depth: Int,
        _ report: (StateChange) -> Bool
    ) -> Bool {
        let isShared = old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in old.baseAddress == new.baseAddress && old.count == new.count }
        }
        if isShared { return true }
        let shorter = min(old.count, new.count)
        var (prefix, suffix) = (0, 0)
        while prefix < shorter, old[prefix] == new[prefix] { prefix += 1 }
        while suffix < shorter - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] { suffix += 1 }
        let (changed, removed) = (shorter - prefix - suffix, old.count - shorter)
        for index in prefix..<prefix + changed {
            let inside = hidden.inside { "\(index)" }
            guard compare(old[index], new[index], path + ["\(index)"], inside, depth - 1, report) else { return false }
        }
        let end = prefix + changed
        // An element that is hidden keeps its place.
        func shown(_ value: Value, at index: Int) -> Value { hidden.inside { "\(index)" }.hidesAll ? .null : value }
        return (end..<end + removed).allSatisfy { index in
            report(StateChange(kind: .remove, path: path + ["\(end)"], old: shown(old[index], at: index), new: nil))
        }
            && (end..<new.count - suffix).allSatisfy { index in
                report(
                    StateChange(kind: .add, path: path + ["\(index)"], old: nil, new: shown(new[index], at: index))
                )
            }
    }
}
