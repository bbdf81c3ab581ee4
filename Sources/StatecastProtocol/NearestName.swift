extension String {
    /// The most similar name, ignoring case, in which at most a third of the Unicode scalars differ.
    ///
    /// - Returns: `nil` if no name is that similar.
    package func nearest(among names: some Sequence<String>) -> String? {
        let own = Array(lowercased().unicodeScalars)
        let near = names.compactMap { name -> (name: String, distance: Int)? in
            let other = Array(name.lowercased().unicodeScalars)
            let maxDistance = max(1, min(own.count, other.count) / 3)
            // The distance is at least the difference of the lengths.
            guard abs(own.count - other.count) <= maxDistance else { return nil }
            let distance = own.distance(to: other)
            return distance <= maxDistance ? (name, distance) : nil
        }
        return near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }
}

// Scalars, because comparing two characters normalizes them.
extension [Unicode.Scalar] {
    /// The optimal string alignment distance: insertions, deletions, substitutions and transpositions of adjacent
    /// scalars. Considers the first ``maxScalars`` scalars of each text.
    fileprivate func distance(to other: [Unicode.Scalar]) -> Int {
        let (left, right) = (prefix(Self.maxScalars), other.prefix(Self.maxScalars))
        var before: [Int] = []
        var last = [Int](0...right.count)
        for (row, scalar) in left.enumerated() {
            var current = [row + 1]
            for (column, otherScalar) in right.enumerated() {
                let change = last[column] + (scalar == otherScalar ? 0 : 1)
                var least = Swift.min(change, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, scalar == right[column - 1], left[row - 1] == otherScalar {
                    least = Swift.min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, last) = (last, current)
        }
        return last[right.count] + abs(count - left.count - (other.count - right.count))
    }

    /// Bounds the cost for names that a peer sends.
    private static var maxScalars: Int { 64 }
}
