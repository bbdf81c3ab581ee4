/// The search for the shortest sequence of removals and insertions that leads from one array to another: the greedy
/// algorithm of E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986).
///
/// Unlike that of the standard library, it can be bounded: it ends without a result after a number of edits or of
/// comparisons.
struct MinimalEdit {
    private let (oldCount, newCount): (Int, Int)
    private let maxEdits: Int
    private var comparisonsLeft: Int
    private let same: (_ old: Int, _ new: Int) -> Bool
    /// For each number of edits, the furthest reached offsets in the old array by diagonal (the offset in the old array
    /// less that in the new one), from `-edits` on in steps of 2; -1 if the diagonal is not reached.
    private var rounds: [[Int]] = []

    /// - Parameter same: whether two elements are the same, by their offsets.
    init(
        from oldCount: Int,
        to newCount: Int,
        maxEdits: Int,
        maxComparisons: Int,
        same: @escaping (_ old: Int, _ new: Int) -> Bool
    ) {
        (self.oldCount, self.newCount) = (oldCount, newCount)
        (self.maxEdits, comparisonsLeft) = (maxEdits, maxComparisons)
        self.same = same
    }

    /// The offsets of the removed elements in the old array, and of the inserted ones in the new array; `nil` if a
    /// bound is exceeded.
    mutating func run() -> (removed: Set<Int>, inserted: Set<Int>)? {
        for edits in 0...max(0, maxEdits) {
            var ends: [Int] = []
            ends.reserveCapacity(edits + 1)
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                var end = edits == 0 ? 0 : start(of: diagonal, after: edits).offset
                while end >= 0, end < oldCount, end - diagonal < newCount {
                    comparisonsLeft -= 1
                    guard comparisonsLeft >= 0 else { return nil }
                    guard same(end, end - diagonal) else { break }
                    end += 1
                }
                if end == oldCount, end - diagonal == newCount { return edit(edits, end) }
                ends.append(end)
            }
            rounds.append(ends)
        }
        return nil
    }

    /// Where a diagonal is entered with an edit, in the old array; -1 if it cannot be reached.
    private func start(of diagonal: Int, after edits: Int) -> (offset: Int, isRemoval: Bool) {
        let (above, below) = (reached(diagonal + 1, with: edits - 1), reached(diagonal - 1, with: edits - 1))
        // An insertion stays at its offset, a removal passes one element.
        let inserted = above - diagonal <= newCount ? above : -1
        let removed = below >= 0 && below < oldCount ? below + 1 : -1
        return inserted >= removed ? (inserted, false) : (removed, true)
    }

    private func reached(_ diagonal: Int, with edits: Int) -> Int {
        abs(diagonal) <= edits ? rounds[edits][(diagonal + edits) / 2] : -1
    }

    /// Follows the search back from its end.
    private func edit(_ edits: Int, _ end: Int) -> (removed: Set<Int>, inserted: Set<Int>) {
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        var diagonal = oldCount - newCount
        for edits in stride(from: edits, to: 0, by: -1) {
            let (offset, isRemoval) = start(of: diagonal, after: edits)
            if isRemoval {
                removed.insert(offset - 1)
                diagonal -= 1
            } else {
                inserted.insert(offset - diagonal - 1)
                diagonal += 1
            }
        }
        return (removed, inserted)
    }
}
