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
    /// Called for each change; `false` ends the search.
    private let report: (StateChange) -> Bool
    private var isEnded = false

    init(hidden: HiddenPaths, depth: Int = .max, _ report: @escaping (StateChange) -> Bool) {
        (self.hidden, self.depth, self.report) = (hidden, depth, report)
    }

    /// Compares the values at a path; `nil`: the state has nothing there.
    mutating func run(from old: Value?, to new: Value?, at path: [String]) {
        compare(old, new, path, hidden.inside(path), depth)
    }

    private mutating func compare(_ old: Value?, _ new: Value?, _ path: [String], _ hidden: HiddenPaths, _ depth: Int) {
        guard !isEnded, !hidden.hidesAll else { return }
        guard let old, let new else {
            if old != nil || new != nil { change(old == nil ? .add : .remove, path, old, new) }
            return
        }
        switch (old, new) {
        case (.map(let before), .map(let after)):
            guard !before.isIdentical(to: after) else { return }
            guard depth > 0 else {
                if before.count != after.count { change(.replace, path, old, new) }
                return
            }
            // A removal comes before an addition whose key may have the same name.
            var inner = self
            ValueMap.forEachDifference(from: before, to: after) { key, old, new in
                let name = key.keyName
                inner.compare(old, new, path + [name], hidden.inside { name }, depth - 1)
            }
            self = inner
        case (.array(let before), .array(let after)):
            guard depth > 0 else {
                if before.count != after.count { change(.replace, path, old, new) }
                return
            }
            compare(before, after, path, hidden, depth)
        default: if old != new { change(.replace, path, old, new) }
        }
    }

    /// What the arrays have in common at both ends stays; what is between is changed, removed or inserted.
    private mutating func compare(
        _ old: [Value],
        _ new: [Value],
        _ path: [String],
        _ hidden: HiddenPaths,
        _ depth: Int
    ) {
        let isShared = old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in old.baseAddress == new.baseAddress && old.count == new.count }
        }
        if isShared { return }
        let shorter = min(old.count, new.count)
        var (prefix, suffix) = (0, 0)
        while prefix < shorter, old[prefix] == new[prefix] { prefix += 1 }
        while suffix < shorter - prefix, old[old.count - 1 - suffix] == new[new.count - 1 - suffix] { suffix += 1 }
        let (changed, removed) = (shorter - prefix - suffix, old.count - shorter)
        for index in prefix..<prefix + changed {
            compare(old[index], new[index], path + ["\(index)"], hidden.inside { "\(index)" }, depth - 1)
        }
        let end = prefix + changed
        // An element that is hidden keeps its place.
        func shown(_ value: Value, at index: Int) -> Value { hidden.inside { "\(index)" }.hidesAll ? .null : value }
        for index in end..<end + removed { change(.remove, path + ["\(end)"], shown(old[index], at: index), nil) }
        for index in end..<new.count - suffix { change(.add, path + ["\(index)"], nil, shown(new[index], at: index)) }
    }

    private mutating func change(_ kind: StateChange.Kind, _ path: [String], _ old: Value?, _ new: Value?) {
        if !isEnded { isEnded = !report(StateChange(kind: kind, path: path, old: old, new: new)) }
    }
}
