/// The rows of a stretch of keys, found in O(log n). The bounds need not be keys of the table.
extension Table {
    /// The rows from one key to another, which is left out.
    public func rows(in keys: Range<Key>) -> Slice<Table> {
        slice(from: offset(of: keys.lowerBound), to: offset(of: keys.upperBound))
    }

    /// The rows from one key through another.
    public func rows(in keys: ClosedRange<Key>) -> Slice<Table> {
        slice(from: offset(of: keys.lowerBound), to: offset(behind: keys.upperBound))
    }

    /// The rows from a key on.
    public func rows(in keys: PartialRangeFrom<Key>) -> Slice<Table> {
        slice(from: offset(of: keys.lowerBound), to: count)
    }

    /// The rows before a key.
    public func rows(in keys: PartialRangeUpTo<Key>) -> Slice<Table> {
        slice(from: 0, to: offset(of: keys.upperBound))
    }

    /// The rows through a key.
    public func rows(in keys: PartialRangeThrough<Key>) -> Slice<Table> {
        slice(from: 0, to: offset(behind: keys.upperBound))
    }

    private func offset(of key: Key) -> Int { tree.position(of: key).offset }

    private func offset(behind key: Key) -> Int {
        let (offset, found) = tree.position(of: key)
        return found ? offset + 1 : offset
    }

    /// With an order that contradicts itself the end may come first: then nothing is between them.
    private func slice(from start: Int, to end: Int) -> Slice<Table> {
        self[Index(offset: start)..<Index(offset: Swift.max(start, end))]
    }
}
