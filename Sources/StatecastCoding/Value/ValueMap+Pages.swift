extension ValueMap {
    /// The number of entries up to a key, with it: where the page after that key begins. O(log n).
    package func offset(after name: String) -> Int {
        let keys = Value.keys(named: name)
        guard let key = keys.first(where: { self[$0] != nil }) ?? keys.first else { return 0 }
        let (offset, found) = entries.position(of: key.canonical)
        return offset + (found ? 1 : 0)
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
