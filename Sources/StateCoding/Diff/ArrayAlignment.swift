/// Which elements of an array are still there in another, and in which stretches the two differ.
struct ArrayAlignment<Element> {
    let old: [Element]
    let new: [Element]
    let same: (Element, Element) -> Bool

    /// A stretch of the old array that became one of the new array; not both are empty.
    struct Hunk: Equatable {
        var old: Range<Int>
        var new: Range<Int>
    }

    /// Elements that stand side by side in both arrays, changed or not.
    struct Stretch {
        var old: Int
        var new: Int
        var count: Int
    }

    /// Insertions and removals that are looked for one by one; the work and the number of splices grow with it.
    static var scriptMax: Int { 32 }

    /// Where the arrays differ, in order; all between is the same. Empty if all elements are the same.
    ///
    /// First come the edits that any number of elements may take part in: elements changed where they are, one block that
    /// came or went, and a list that gained at one end what it lost at the other. Then few insertions and removals
    /// anywhere, if they explain more.
    func hunks() -> [Hunk] {
        let common = min(old.count, new.count)
        var prefix = 0
        while prefix < common, same(old[prefix], new[prefix]) { prefix += 1 }
        var suffix = 0
        while suffix < common - prefix, same(old[old.count - 1 - suffix], new[new.count - 1 - suffix]) { suffix += 1 }

        let middle = Hunk(old: prefix..<(old.count - suffix), new: prefix..<(new.count - suffix))
        if middle.old.isEmpty && middle.new.isEmpty { return [] }
        if middle.old.isEmpty || middle.new.isEmpty || (middle.old.count == 1 && middle.new.count == 1) {
            return [middle]
        }
        var best = Candidate(of: aroundOneBlock(middle), in: middle, of: self)
        // No explanation needs fewer than this, and an array of one length more than a single change.
        let least = max(2, abs(middle.old.count - middle.new.count))
        for stretches in [goneInFront(middle), comeInFront(middle)] where best.cost > least {
            guard let stretches else { continue }
            let candidate = Candidate(of: stretches, in: middle, of: self)
            if candidate.cost < best.cost { best = candidate }
        }
        if best.cost > least, let kept = shortestScript(middle, max: min(Self.scriptMax, best.cost - 1)) {
            return Candidate(of: kept, in: middle, of: self).hunks
        }
        return best.hunks
    }

    /// A way to see the change, and how many elements it says came or went (a changed one does both).
    private struct Candidate {
        var hunks: [Hunk] = []
        var cost = 0

        init(of stretches: [Stretch], in middle: Hunk, of arrays: ArrayAlignment) {
            var (old, new) = (middle.old.lowerBound, middle.new.lowerBound)
            for stretch in stretches {
                add(old..<stretch.old, new..<stretch.new)
                (old, new) = (stretch.old + stretch.count, stretch.new + stretch.count)
                var start = 0
                for step in 0..<stretch.count
                where arrays.same(arrays.old[stretch.old + step], arrays.new[stretch.new + step]) {
                    add((stretch.old + start)..<(stretch.old + step), (stretch.new + start)..<(stretch.new + step))
                    start = step + 1
                }
                add((stretch.old + start)..<old, (stretch.new + start)..<new)
            }
            add(old..<middle.old.upperBound, new..<middle.new.upperBound)
        }

        private mutating func add(_ old: Range<Int>, _ new: Range<Int>) {
            if old.isEmpty && new.isEmpty { return }
            hunks.append(Hunk(old: old, new: new))
            cost += old.count + new.count
        }
    }

    /// One block came or went, at the place that leaves most of the others the same.
    private func aroundOneBlock(_ middle: Hunk) -> [Stretch] {
        let (before, after) = (middle.old, middle.new)
        let count = min(before.count, after.count)
        let (back, newBack) = (before.upperBound - count, after.upperBound - count)
        var split = count
        if before.count != after.count {
            let fromBack = (0..<count).map { same(old[back + $0], new[newBack + $0]) }
            var matches = fromBack.count { $0 }
            var most = matches
            split = 0
            for step in 0..<count {
                if fromBack[step] { matches -= 1 }
                if same(old[before.lowerBound + step], new[after.lowerBound + step]) { matches += 1 }
                // What came or went at the end moves nothing, so a tie goes to the end.
                if matches >= most { (most, split) = (matches, step + 1) }
            }
        }
        return [
            Stretch(old: before.lowerBound, new: after.lowerBound, count: split),
            Stretch(old: back + split, new: newBack + split, count: count - split),
        ]
    }

    /// Elements went at the front, as a bounded log loses its oldest.
    private func goneInFront(_ middle: Hunk) -> [Stretch]? {
        let (before, after) = (middle.old, middle.new)
        let first = new[after.lowerBound]
        guard let start = before.dropFirst().first(where: { same(old[$0], first) }) else { return nil }
        return [Stretch(old: start, new: after.lowerBound, count: min(before.upperBound - start, after.count))]
    }

    /// Elements came at the front, as in a list with the newest first.
    private func comeInFront(_ middle: Hunk) -> [Stretch]? {
        let (before, after) = (middle.old, middle.new)
        let first = old[before.lowerBound]
        guard let start = after.dropFirst().first(where: { same(first, new[$0]) }) else { return nil }
        return [Stretch(old: before.lowerBound, new: start, count: min(after.upperBound - start, before.count))]
    }
}
