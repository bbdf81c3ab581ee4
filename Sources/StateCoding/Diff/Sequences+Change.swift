extension Array where Element: Encodable {
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        guard Element.self != UInt8.self, let same = equality(of: Element.self) else {
            // Where the elements have no `==`, their encodings are compared.
            return Change.replacing(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
        }
        let node = try place.open()
        let trial = TrialNode(under: place.key, in: place.node)
        func tree(_ element: Element, _ index: Int) throws -> StateCoding.Value {
            try encodeTree(element, at: Place(node: node, key: DataKey.index(index)))
        }
        var difference = ArrayDifference(
            ArrayAlignment(old: old, new: new, same: same),
            path: path,
            isTrial: place.isTrial,
            tree: tree,
            change: { old, new, index, isTrial in
                let place = Place(node: isTrial ? trial : node, key: DataKey.index(index))
                return try changeOfTree(from: old, to: new, at: place, path: path.index(index))
            }
        )
        return try difference.change()
    }
}

/// An array on the way to a change that is only tried.
private final class TrialNode: PathNode {}

extension Place {
    fileprivate var isTrial: Bool {
        var next: PathNode? = node
        while let node = next {
            if node is TrialNode { return true }
            next = node.parent
        }
        return false
    }
}

extension SetCollection {
    /// As sets are sorted by encoding, what came and went are splices here and there.
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        if old == new { return nil }
        let (before, after) = (try encodeTree(old, at: place), try encodeTree(new, at: place))
        guard case .array(let oldElements) = before, case .array(let newElements) = after,
            let splices = sortedSplices(from: oldElements, to: newElements)
        else { return Change.replacing(before, with: after, path: path) }
        guard !splices.isEmpty else { return nil }
        var summary = SummaryChange()
        summary.remove(before, at: path)
        summary.add(after, at: path)
        return Change(patch: .sequence(splices.map { Patch(.splice($0)) }), summary: summary)
    }

    /// The splices between two sorted arrays of different elements; `nil` if they would be too many.
    private static func sortedSplices(
        from old: [StateCoding.Value],
        to new: [StateCoding.Value]
    ) -> [Patch.Splice]? {
        var splices: [Patch.Splice] = []
        var (left, right) = (0, 0)
        while left < old.count || right < new.count {
            let (oldStart, newStart) = (left, right)
            while left < old.count || right < new.count {
                if left == old.count {
                    right += 1
                } else if right == new.count || old[left].precedes(new[right]) {
                    left += 1
                } else if old[left] == new[right] {
                    break
                } else {
                    right += 1
                }
            }
            if left > oldStart || right > newStart {
                if splices.count == sortedSplicesMax { return nil }
                // What stands before this position is new already, so it counts as in the new array.
                let inserted = Array<StateCoding.Value>(new[newStart..<right])
                splices.append(Patch.Splice(offset: newStart, removed: left - oldStart, inserted: inserted))
            }
            if left < old.count {
                left += 1
                right += 1
            }
        }
        return splices
    }

    /// Each splice moves all that follows it; beyond this many, one wide one is cheaper.
    private static var sortedSplicesMax: Int { 16 }
}
