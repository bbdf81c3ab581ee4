extension Array where Element: Encodable {
    static func change(from old: Self, to new: Self, at place: Place, path: DigestPath) throws -> Change? {
        guard Element.self != UInt8.self, let same = equality(of: Element.self) else {
            return Change.replacing(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
        }
        guard let edit = ArrayEdit(from: old, to: new, by: same) else { return nil }
        let node = try place.open()
        func trees(_ array: Self, _ range: Range<Int>) throws -> [StateCoding.Value] {
            try range.map { try encodeTree(array[$0], at: Place(node: node, key: DataKey.index($0))) }
        }
        switch edit {
        case .elements(let range):
            var changes = PartChanges(path: path)
            for index in range where !same(old[index], new[index]) {
                let place = Place(node: node, key: DataKey.index(index))
                if let change = try changeOfTree(
                    from: old[index],
                    to: new[index],
                    at: place,
                    path: path.index(index)
                ) {
                    changes.change(StateCoding.Value(index), change)
                }
            }
            return try changes.finish(.array, from: old.count, to: new.count)
        case .splices(let splices):
            let patch = try Patch.splices(splices) { try trees(new, $0) }
            let start = splices.map(\.offset).min() ?? 0
            var summary = SummaryChange()
            for index in start..<old.count {
                summary.remove(try encodeTree(old[index], at: place), at: path.index(index))
            }
            for index in start..<new.count {
                summary.add(try encodeTree(new[index], at: place), at: path.index(index))
            }
            summary.resize(.array, from: old.count, to: new.count, at: path)
            return Change(patch: patch, summary: summary)
        }
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
