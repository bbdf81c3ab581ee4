extension Array where Element: Encodable {
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        guard Element.self != UInt8.self, let same = equality(of: Element.self) else {
            return try changeOfTrees(from: encodeTree(old, at: place), to: encodeTree(new, at: place), path: path)
        }
        let node = try place.open()
        func tree(_ element: Element, _ index: Int) throws -> StateCoding.Value {
            try encodeTree(element, at: Place(node: node, key: DataKey.index(index)))
        }
        var difference = ArrayDifference(
            ArrayAlignment(old: old, new: new, same: same),
            path: path,
            tree: tree,
            change: { try changeOfTree(from: $0, to: $1, at: Place(node: node, key: DataKey.index($2)), path: $3) }
        )
        return try difference.change()
    }

    /// Where the elements have no `==`, their encodings are compared.
    private static func changeOfTrees(
        from old: StateCoding.Value,
        to new: StateCoding.Value,
        path: DigestPath
    ) throws -> Change? {
        guard case .array(let before) = old, case .array(let after) = new else {
            return Change.replacing(old, with: new, path: path)
        }
        var difference = ArrayDifference(
            ArrayAlignment(old: before, new: after, same: ==),
            path: path,
            tree: { element, _ in element },
            change: { Change.replacing($0, with: $1, path: $3) }
        )
        return try difference.change()
    }
}

extension SetCollection {
    /// As sets are sorted by encoding, what came and went are splices here and there.
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        if old == new { return nil }
        let (before, after) = (try encodeTree(old, at: place), try encodeTree(new, at: place))
        guard case .array(let oldElements) = before, case .array(let newElements) = after,
            let splices = ArrayEdit.sortedSplices(from: oldElements, to: newElements)
        else { return Change.replacing(before, with: after, path: path) }
        guard !splices.isEmpty else { return nil }
        var summary = SummaryChange()
        summary.remove(before, at: path)
        summary.add(after, at: path)
        return Change(patch: Patch.splices(splices) { Array<StateCoding.Value>(newElements[$0]) }, summary: summary)
    }
}

extension ArrayEdit {
    /// Each splice moves all that follows it; beyond this many, one wide one is cheaper.
    private static let sortedSplicesMax = 16

    /// The splices between two sorted arrays of different elements; `nil` if they would be too many.
    static func sortedSplices(from old: [Value], to new: [Value]) -> [Splice]? {
        var splices: [Splice] = []
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
                // What stands before this position is new already, so it counts as in the new array.
                splices.append(Splice(offset: newStart, removed: left - oldStart, inserted: newStart..<right))
                if splices.count > sortedSplicesMax { return nil }
            }
            if left < old.count {
                left += 1
                right += 1
            }
        }
        return splices
    }
}
