extension Optional: PartwiseDiffable where Wrapped: Encodable {
    static func change(from old: Self, to new: Self, at place: CodingPath, path: DigestPath) throws -> Change? {
        if let old, let new {
            guard let change = try changeOfTree(from: old, to: new, at: place, path: path) else { return nil }
            // The content may have been null, or be null now, which needs a tag.
            if case .replace = change.patch.form {} else { return change }
        }
        return Change.replacing(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
    }
}

extension Array: PartwiseDiffable where Element: Encodable {
    static func change(from old: Self, to new: Self, at place: CodingPath, path: DigestPath) throws -> Change? {
        guard Element.self != UInt8.self, let same = equality(of: Element.self) else {
            // Elements without `==` are compared as trees.
            return Change.replacing(try encodeTree(old, at: place), with: try encodeTree(new, at: place), path: path)
        }
        let node = try place.open()
        var difference = ArrayDifference(
            from: old,
            to: new,
            path: path,
            same: same,
            tree: { element, index in
                try encodeTree(element, at: CodingPath(node: node, key: DataKey.index(index)))
            },
            change: { old, new, index in
                let place = CodingPath(node: node, key: DataKey.index(index))
                return try changeOfTree(from: old, to: new, at: place, path: path.index(index))
            }
        )
        return try difference.change()
    }
}

extension Set: PartwiseDiffable where Element: Encodable {
    /// A set is an array sorted by encodings, so that insertions and removals are splices.
    static func change(from old: Self, to new: Self, at place: CodingPath, path: DigestPath) throws -> Change? {
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

    /// The splices between two sorted arrays of distinct elements; `nil` if there are too many.
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
                // Preceding changes are already applied, so this is an offset in the new array.
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

    /// Each splice moves all elements after it; beyond this number, one wide splice is cheaper.
    private static var sortedSplicesMax: Int { 16 }
}

/// Collects the changes of a collection's entries.
struct KeyedChanges<Key: Encodable, Content: Encodable> {
    private let place: CodingPath
    private let node: CodingPathNode
    private let path: DigestPath
    /// The `==` of the contents, if they have one.
    let areEqual = equality(of: Content.self)
    private var parts: PartChanges

    init(at place: CodingPath, path: DigestPath) throws {
        self.place = place
        self.path = path
        node = try place.open()
        parts = PartChanges(path: path)
    }

    /// Adds the change of one entry.
    mutating func add(_ key: Key, from old: Content?, to new: Content?) throws {
        if let old, let new, areEqual?(old, new) == true { return }
        let tree = try encodeTree(key, at: place).canonical
        let place = CodingPath(node: node, key: EntryKey.of(key))
        if case .float(let number) = tree, number.isNaN { throw place.failure(.unencodable, CBORWriter.keyIsNaN) }
        if let old, let new {
            let change = try changeOfTree(from: old, to: new, at: place, path: path.key(tree))
            if let change { parts.change(tree, change) }
        } else if let new {
            parts.insert(tree, try encodeTree(new, at: place))
        } else if let old {
            parts.remove(tree, try encodeTree(old, at: place))
        }
    }

    func finish(from old: Int, to new: Int) throws(CodingFailure) -> Change? {
        try parts.finish(.map, from: old, to: new)
    }
}
