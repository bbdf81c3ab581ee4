extension String {
    /// The most similar name, ignoring case, in which at most a third of the characters differ.
    ///
    /// - Returns: `nil` if no name is that similar.
    package func nearest(among names: some Sequence<String>) -> String? {
        let own = Array(lowercased())
        let near = names.lazy.map { (name: $0, distance: own.distance(to: Array($0.lowercased()))) }
            .filter { $0.distance <= max(1, min(own.count, $0.name.count) / 3) }
        return near.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
    }
}

extension [Character] {
    /// The optimal string alignment distance: insertions, deletions, substitutions and transpositions of adjacent
    /// characters. Considers the first ``charactersMax`` characters of each text.
    fileprivate func distance(to other: [Character]) -> Int {
        let (left, right) = (prefix(Self.charactersMax), other.prefix(Self.charactersMax))
        var before: [Int] = []
        var last = [Int](0...right.count)
        for (row, character) in left.enumerated() {
            var current = [row + 1]
            for (column, otherCharacter) in right.enumerated() {
                let change = last[column] + (character == otherCharacter ? 0 : 1)
                var least = Swift.min(change, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, character == right[column - 1], left[row - 1] == otherCharacter {
                    least = Swift.min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, last) = (last, current)
        }
        return last[right.count] + abs(count - left.count - (other.count - right.count))
    }

    /// Bounds the cost for names that a peer sends.
    private static var charactersMax: Int { 64 }
}
