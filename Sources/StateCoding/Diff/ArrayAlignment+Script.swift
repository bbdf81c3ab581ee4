extension ArrayAlignment {
    /// What stays if as few elements as possible come and go: Myers' greedy algorithm ("An O(ND) difference algorithm",
    /// 1986), which follows the furthest-reaching path on each diagonal.
    ///
    /// - Parameter max: The number of insertions and removals beyond which it gives up: it compares at most about
    ///   `max` times as many elements as there are.
    /// - Returns: `nil` if they are more.
    func shortestScript(_ middle: Hunk, max scriptMax: Int) -> [Stretch]? {
        let (oldCount, newCount) = (middle.old.count, middle.new.count)
        guard abs(oldCount - newCount) <= scriptMax else { return nil }
        var reach = Reach(width: scriptMax)
        var rounds: [Reach] = []
        for round in 0...scriptMax {
            rounds.append(reach)
            for diagonal in stride(from: -round, through: round, by: 2) {
                guard var left = reach.step(to: diagonal, oldCount, newCount)?.left else { continue }
                while left < oldCount, left - diagonal < newCount,
                    same(old[middle.old.lowerBound + left], new[middle.new.lowerBound + left - diagonal])
                {
                    left += 1
                }
                reach[diagonal] = left
                if left == oldCount, left - diagonal == newCount {
                    return stretches(of: rounds, to: oldCount, newCount, in: middle)
                }
            }
        }
        return nil
    }

    /// How far into the old array each diagonal (old minus new index) has come.
    private struct Reach {
        private var furthest: [Int?]
        private let width: Int

        init(width: Int) {
            self.width = width
            furthest = Array(repeating: nil, count: 2 * width + 3)
        }

        subscript(diagonal: Int) -> Int? {
            get { furthest[diagonal + width + 1] }
            set { furthest[diagonal + width + 1] = newValue }
        }

        /// Where a diagonal is entered, and from which one; the start comes from none.
        func step(to diagonal: Int, _ oldCount: Int, _ newCount: Int) -> (left: Int, from: Int?)? {
            let removing = self[diagonal - 1].flatMap { $0 < oldCount ? $0 + 1 : nil }
            let inserting = self[diagonal + 1].flatMap { $0 - diagonal <= newCount ? $0 : nil }
            switch (removing, inserting) {
            case (let removing?, let inserting?) where removing > inserting: return (removing, diagonal - 1)
            case (_, let inserting?): return (inserting, diagonal + 1)
            case (let removing?, nil): return (removing, diagonal - 1)
            case (nil, nil): return diagonal == 0 && self[0] == nil ? (0, nil) : nil
            }
        }
    }

    private func stretches(of rounds: [Reach], to oldCount: Int, _ newCount: Int, in middle: Hunk) -> [Stretch] {
        var stretches: [Stretch] = []
        var (left, diagonal) = (oldCount, oldCount - newCount)
        for reach in rounds.reversed() {
            guard let (start, from) = reach.step(to: diagonal, oldCount, newCount) else { break }
            if left > start {
                let (old, new) = (middle.old.lowerBound + start, middle.new.lowerBound + start - diagonal)
                stretches.append(Stretch(old: old, new: new, count: left - start))
            }
            guard let from, let reached = reach[from] else { break }
            (left, diagonal) = (reached, from)
        }
        return stretches.reversed()
    }
}
