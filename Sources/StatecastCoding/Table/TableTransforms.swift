extension Table {
    /// The table of the rows that satisfy a condition.
    ///
    /// If most rows stay, the result shares nodes with this table, so that the difference of the two is found fast.
    ///
    /// It rethrows, because a generic function with typed throws would be less specialized than the `filter` of a
    /// sequence, which returns an array.
    public func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> Table {
        var gone: [Int] = []
        for (offset, (key, row)) in zip(0..., tree) where try !isIncluded((key, row)) { gone.append(offset) }
        if gone.count <= count / 16 {
            var kept = self
            for offset in gone.reversed() { kept.tree.remove(at: offset) }
            return kept
        }
        var builder = SortedTreeBuilder<AscendingOrder<Key>, Row>(count: count - gone.count)
        var next = gone.makeIterator()
        var skipped = next.next()
        for (offset, (key, row)) in zip(0..., tree) {
            if offset == skipped { skipped = next.next() } else { builder.append(unchecked: key, row) }
        }
        return Table(tree: builder.finish())
    }

    /// The table of the same keys with other rows.
    public func mapValues<Other, Failure: Error>(
        _ transform: (Row) throws(Failure) -> Other
    ) throws(Failure) -> Table<Key, Other> {
        Table<Key, Other>(tree: try tree.mapElements(transform))
    }

    /// Adds rows; `combine` makes one row of an old and a new one with the same key.
    public mutating func merge<Failure: Error>(
        _ rows: some Sequence<(Key, Row)>,
        uniquingKeysWith combine: (Row, Row) throws(Failure) -> Row
    ) throws(Failure) {
        for (key, row) in rows {
            let (offset, found) = tree.position(of: key)
            if found {
                tree[offset: offset] = try combine(tree[offset: offset], row)
            } else {
                tree.insert(key, row)
            }
        }
    }
}
