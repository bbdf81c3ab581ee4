extension ArrayDifference {
    /// Up to this many elements are changed one by one without asking whether replacing them is shorter.
    private static var changedMax: Int { 3 }
    /// How many elements of a longer run are asked.
    private static var samples: Int { 8 }
    /// Each splice moves or copies the array where it is applied.
    private static var replacedRunsMax: Int { 8 }
    /// How many elements might be written in the place of one change.
    private static var changedToWholeMax: Int { 8 }
    /// How many pairs of elements are tried to find out which one became which.
    private static var pairsMax: Int { 64 }

    /// The hunks as they are worked off: one that spans all, where so many elements changed that replacing also those
    /// between them is shorter.
    func plan(_ hunks: [Hunk]) throws -> [Hunk] {
        let joined = Self.joined(hunks)
        guard !isTrial, joined.count > Self.replacedRunsMax, let first = joined.first, let last = joined.last else {
            return joined
        }
        let pairs = joined.filter { $0.old.count == $0.new.count }.flatMap { zip($0.old, $0.new) }
        let span = Hunk(
            old: first.old.lowerBound..<last.old.upperBound,
            new: first.new.lowerBound..<last.new.upperBound
        )
        // Not even the smallest elements are that much shorter than their changes.
        guard pairs.count * Self.changedToWholeMax > span.new.count else { return joined }
        return try isShorterReplaced(pairs, writing: span.new.count) ? [span] : joined
    }

    /// Hunks that touch as one, where it can be found out which elements belong together.
    static func joined(_ hunks: [Hunk]) -> [Hunk] {
        var joined: [Hunk] = []
        for hunk in hunks {
            if let last = joined.last, last.old.upperBound == hunk.old.lowerBound,
                last.new.upperBound == hunk.new.lowerBound,
                (last.old.count + hunk.old.count) * (last.new.count + hunk.new.count) <= pairsMax
            {
                joined[joined.count - 1] = Hunk(
                    old: last.old.lowerBound..<hunk.old.upperBound,
                    new: last.new.lowerBound..<hunk.new.upperBound
                )
            } else {
                joined.append(hunk)
            }
        }
        return joined
    }

    /// Elements side by side: each by itself, or all replaced at once where that is shorter (numbers, above all).
    mutating func changeOrReplace(_ hunk: Hunk) throws {
        if try !isTrial && hunk.old.count > Self.changedMax && replacedRuns < Self.replacedRunsMax
            && isShorterReplaced(hunk)
        {
            replacedRuns += 1
            try splice(hunk)
        } else {
            for (before, after) in zip(hunk.old, hunk.new) { try change(before, to: after) }
        }
    }

    private func isShorterReplaced(_ hunk: Hunk) throws -> Bool {
        try isShorterReplaced(Array(zip(hunk.old, hunk.new)), writing: hunk.new.count)
    }

    /// Whether `count` elements are fewer bytes than the changes of these pairs, as far as samples tell.
    private func isShorterReplaced(_ pairs: [(Int, Int)], writing count: Int) throws -> Bool {
        let asked = stride(from: 0, to: pairs.count, by: max(1, pairs.count / Self.samples)).map { pairs[$0] }
        var (changed, replaced) = (0, 0)
        for (before, after) in asked {
            changed += try changedBytes(before, after) ?? 0
            replaced += try tree(new[after], after).encoded.count
        }
        return replaced * count < changed * pairs.count
    }

    /// What the change of an element takes in a patch, its key included; `nil` if it did not change.
    private func changedBytes(_ before: Int, _ after: Int) throws -> Int? {
        try tryChange(before, after).map { $0.patch.encode().count + CBORWriter.headBytes(before) }
    }

    /// Which elements became others, which came and which went, in order, so that the patch is shortest.
    func parts(of hunk: Hunk) throws -> [Hunk] {
        let (rows, columns) = (hunk.old.count, hunk.new.count)
        guard !isTrial, rows > 0, columns > 0, rows * columns <= Self.pairsMax else { return [hunk] }
        let inserting = try hunk.new.map { try tree(new[$0], $0).encoded.count }
        // The fewest bytes for what begins at a row and a column. A removal alone costs about a splice's head.
        let removing = 1
        var least = Array(repeating: Array(repeating: 0, count: columns + 1), count: rows + 1)
        var pairs = Array(repeating: Array(repeating: 0, count: columns), count: rows)
        for row in (0...rows).reversed() {
            for column in (0...columns).reversed() where row < rows || column < columns {
                var best = Int.max
                if row < rows { best = min(best, least[row + 1][column] + removing) }
                if column < columns { best = min(best, least[row][column + 1] + inserting[column]) }
                if row < rows, column < columns {
                    let (before, after) = (hunk.old.lowerBound + row, hunk.new.lowerBound + column)
                    pairs[row][column] = try changedBytes(before, after) ?? 0
                    best = min(best, least[row + 1][column + 1] + pairs[row][column])
                }
                least[row][column] = best
            }
        }
        var parts: [Hunk] = []
        var (row, column) = (0, 0)
        while row < rows || column < columns {
            let (before, after) = (hunk.old.lowerBound + row, hunk.new.lowerBound + column)
            var (came, went) = (0, 0)
            if row < rows, column < columns, least[row][column] == least[row + 1][column + 1] + pairs[row][column] {
                (came, went) = (1, 1)
            } else if row < rows, least[row][column] == least[row + 1][column] + removing {
                went = 1
            } else {
                came = 1
            }
            parts.append(.init(old: before..<(before + went), new: after..<(after + came)))
            (row, column) = (row + went, column + came)
        }
        return parts
    }
}

extension ArrayAlignment.Hunk {
    /// One element that became another.
    var isPair: Bool { old.count == 1 && new.count == 1 }
}
