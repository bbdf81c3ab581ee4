extension ValueMap {
    /// The number of entries before the key with a name, or before the place where it would be. O(log n).
    package func offset(from name: String) -> Int { place(named: name).offset }

    /// The number of entries up to the key with a name: where the page after that key begins. O(log n).
    package func offset(after name: String) -> Int {
        let (offset, found) = place(named: name)
        return offset + (found ? 1 : 0)
    }

    private func place(named name: String) -> (offset: Int, found: Bool) {
        let keys = Value.keys(named: name)
        let key = keys.first { self[$0] != nil } ?? .text(name)
        return entries.position(of: key.canonical)
    }

    /// The position after a number of entries.
    package func index(at offset: Int) -> Index { Index(offset: Swift.min(Swift.max(0, offset), count)) }

    /// Visits the keys whose values may differ, in their order: O(changes) for a map and its changed copy.
    package static func forEachDifference(
        from old: ValueMap,
        to new: ValueMap,
        _ visit: (_ key: Value, _ old: Value?, _ new: Value?) -> Void
    ) {
        Entries.differences(from: old.entries, to: new.entries) { key, old, new in
            visit(key, old?.pointee, new?.pointee)
        }
    }

    /// Whether both share all entries in memory.
    package func isIdentical(to other: ValueMap) -> Bool { entries.isIdentical(to: other.entries) }
}
