/// Computes the change of an array: elements changed in place first, then splices from the front on.
///
/// After trimming both ends, the elements are compared one by one, or aligned by a minimal edit if that is
/// shorter. The number of comparisons is bounded: an array with many scattered insertions and removals is
/// changed element by element. Many rows belong in a `Table`.
struct ArrayDifference<Element> {
    /// A range of the old array that became one of the new array; at least one is not empty.
    private struct Hunk {
        var old: Range<Int>
        var new: Range<Int>
    }

    private let old: [Element]
    private let new: [Element]
    private let path: DigestPath
    /// Whether the caller needs the change of the summary.
    private let hasSummary: Bool
    private let same: (Element, Element) -> Bool
    /// The tree of an element at an index.
    private let tree: (Element, Int) throws -> Value
    /// The change between two elements; the index is that of the old one.
    private let elementChange: (Element, Element, Int) throws -> Change?

    private var fields: [(key: Value, element: Patch.FieldChange)] = []
    private var splices: [Patch.Splice] = []
    /// The end of the last splice in the old array.
    private var splicedEnd = 0
    private var summary = SummaryChange()

    /// Up to this number of changed elements are not joined to one splice.
    private static var scatteredMax: Int { 3 }
    /// Up to this number of elements, the patch is compared with a replacement of the array.
    private static var smallMax: Int { 64 }

    init(
        from old: [Element],
        to new: [Element],
        path: DigestPath,
        withSummary hasSummary: Bool = true,
        same: @escaping (Element, Element) -> Bool,
        tree: @escaping (Element, Int) throws -> Value,
        change: @escaping (Element, Element, Int) throws -> Change?
    ) {
        self.old = old
        self.new = new
        self.path = path
        self.hasSummary = hasSummary
        self.same = same
        self.tree = tree
        elementChange = change
    }

    /// The change; `nil` if the arrays are the same.
    mutating func change() throws -> Change? {
        var (oldEnd, newEnd) = (0, 0)
        var rest = hunks()[...]
        while let hunk = rest.popFirst() {
            try move(oldEnd..<hunk.old.lowerBound, to: newEnd)
            if hunk.old.count != hunk.new.count {
                try splice(hunk)
            } else {
                let touchesSplice = rest.first.map { $0.old.lowerBound == hunk.old.upperBound } ?? false
                try changeElements(hunk, splicingAbove: touchesSplice ? 0 : Self.scatteredMax)
            }
            (oldEnd, newEnd) = (hunk.old.upperBound, hunk.new.upperBound)
        }
        guard !fields.isEmpty || !splices.isEmpty else { return nil }
        try move(oldEnd..<old.count, to: newEnd)
        summary.resize(.array, from: old.count, to: new.count, at: path)
        return Change(patch: try patch(), summary: summary)
    }

    private func patch() throws -> Patch {
        if fields.isEmpty, splices.count == 1, !old.isEmpty, splices[0].removed == old.count {
            return .replace(.array(splices[0].inserted))
        }
        let elements = Patch(.fields(try KeyedEntries(canonical: fields)))
        let patch = Patch.sequence([elements] + splices.map { Patch(.splice($0)) })
        let parts = fields.count + splices.count
        guard parts > 1, new.count <= max(Self.smallMax, parts * 8) else { return patch }
        let whole = Patch.replace(.array(try new.indices.map { try tree(new[$0], $0) }))
        return whole.encode().count < patch.encode().count ? whole : patch
    }

    // MARK: Alignment

    /// The ranges that differ, in order.
    private func hunks() -> [Hunk] {
        let (prefix, suffix) = equalEnds()
        let middle = Hunk(old: prefix..<(old.count - suffix), new: prefix..<(new.count - suffix))
        if middle.old.isEmpty || middle.new.isEmpty {
            return middle.old.isEmpty && middle.new.isEmpty ? [] : [middle]
        }
        let inPlace = hunksInPlace(middle)
        let changes = inPlace.reduce(0) { $0 + max($1.old.count, $1.new.count) }
        return changes > 1 ? alignedHunks(middle, changesMax: changes) ?? inPlace : inPlace
    }

    /// The numbers of equal elements at the start and at the end.
    ///
    /// Elements with the same bytes are the same. To pass an element to `same` copies it, which takes longer.
    private func equalEnds() -> (prefix: Int, suffix: Int) {
        old.withUnsafeBufferPointer { old in
            new.withUnsafeBufferPointer { new in
                guard let oldBase = old.baseAddress, let newBase = new.baseAddress else { return (0, 0) }
                func isSame(_ before: Int, _ after: Int) -> Bool {
                    haveSameBytes(oldBase + before, newBase + after) || same(old[before], new[after])
                }
                let common = min(old.count, new.count)
                var prefix = 0
                while prefix < common, isSame(prefix, prefix) { prefix += 1 }
                var suffix = 0
                while suffix < common - prefix, isSame(old.count - 1 - suffix, new.count - 1 - suffix) { suffix += 1 }
                return (prefix, suffix)
            }
        }
    }

    /// The ranges that differ if elements at the same offset belong together.
    private func hunksInPlace(_ middle: Hunk) -> [Hunk] {
        var hunks: [Hunk] = []
        let common = min(middle.old.count, middle.new.count)
        var start: Int?
        for step in 0...common {
            let (left, right) = (middle.old.lowerBound + step, middle.new.lowerBound + step)
            if step < common, !same(old[left], new[right]) {
                start = start ?? step
            } else if let first = start.take() {
                let (oldStart, newStart) = (middle.old.lowerBound + first, middle.new.lowerBound + first)
                hunks.append(Hunk(old: oldStart..<left, new: newStart..<right))
            }
        }
        let rest = Hunk(
            old: (middle.old.lowerBound + common)..<middle.old.upperBound,
            new: (middle.new.lowerBound + common)..<middle.new.upperBound
        )
        return rest.old.isEmpty && rest.new.isEmpty ? hunks : hunks + [rest]
    }

    /// The ranges that differ, for a minimal edit; `nil` if it exceeds `changesMax` or the comparison budget.
    private func alignedHunks(_ middle: Hunk, changesMax: Int) -> [Hunk]? {
        // Rounds of the search that compare nothing are bounded by the difference of the counts.
        guard abs(middle.old.count - middle.new.count) <= 256 else { return nil }
        var search = MinimalEdit(
            from: middle.old.count,
            to: middle.new.count,
            editsMax: changesMax,
            comparisonsMax: 4 * (middle.old.count + middle.new.count) + 4096
        ) { same(old[middle.old.lowerBound + $0], new[middle.new.lowerBound + $1]) }
        guard let (removed, inserted) = search.run() else { return nil }
        var hunks: [Hunk] = []
        var (left, right) = (0, 0)
        while left < middle.old.count || right < middle.new.count {
            let (oldStart, newStart) = (left, right)
            while removed.contains(left) { left += 1 }
            while inserted.contains(right) { right += 1 }
            if left > oldStart || right > newStart {
                let (oldBase, newBase) = (middle.old.lowerBound, middle.new.lowerBound)
                hunks.append(
                    Hunk(old: (oldBase + oldStart)..<(oldBase + left), new: (newBase + newStart)..<(newBase + right))
                )
            } else {
                (left, right) = (left + 1, right + 1)
            }
        }
        return hunks
    }

    // MARK: Changes

    /// Elements that did not change count for the summary where they moved, as it depends on positions.
    private mutating func move(_ range: Range<Int>, to start: Int) throws {
        guard hasSummary, range.lowerBound != start else { return }
        for (before, after) in zip(range, start...) {
            let tree = try tree(old[before], before)
            summary.remove(tree, at: path.index(before))
            summary.add(tree, at: path.index(after))
        }
    }

    /// Changes elements one by one, or replaces more than `max` of them if none has parts that could change.
    private mutating func changeElements(_ hunk: Hunk, splicingAbove max: Int) throws {
        let changes = try zip(hunk.old, hunk.new).map { try elementChange(old[$0], new[$1], $0) }
        if changes.count > max, changes.allSatisfy({ $0?.patch.isReplacement == true }) {
            return try splice(hunk)
        }
        for ((before, after), change) in zip(zip(hunk.old, hunk.new), changes) {
            if let change { fields.append((Value(before), .change(change.patch))) }
            if before != after {
                try count(before..<(before + 1), after..<(after + 1))
            } else if let change {
                summary.combine(change.summary)
            }
        }
    }

    private mutating func splice(_ hunk: Hunk) throws {
        try count(hunk.old, hunk.new)
        let inserted = try hunk.new.map { try tree(new[$0], $0) }
        if let last = splices.last, last.insertedEnd == hunk.new.lowerBound, splicedEnd == hunk.old.lowerBound {
            splices[splices.count - 1].removed += hunk.old.count
            splices[splices.count - 1].inserted += inserted
        } else {
            // Preceding changes are already applied, so this is an offset in the new array.
            splices.append(
                Patch.Splice(offset: hunk.new.lowerBound, removed: hunk.old.count, inserted: inserted)
            )
        }
        splicedEnd = hunk.old.upperBound
    }

    /// Counts removed and inserted elements for the summary.
    private mutating func count(_ removed: Range<Int>, _ inserted: Range<Int>) throws {
        guard hasSummary else { return }
        for index in removed { summary.remove(try tree(old[index], index), at: path.index(index)) }
        for index in inserted { summary.add(try tree(new[index], index), at: path.index(index)) }
    }
}
