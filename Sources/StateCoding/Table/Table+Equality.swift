extension Table: Equatable where Row: Equatable {
    /// Whether both have the same keys with equal rows. What they share is not looked at.
    public static func == (left: Table, right: Table) -> Bool {
        left.tree.isEqual(to: right.tree, by: ==)
    }
}

extension Table: Hashable where Row: Hashable {
    /// Hashes all rows. O(n).
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (key, row) in tree {
            hasher.combine(key)
            hasher.combine(row)
        }
    }
}
