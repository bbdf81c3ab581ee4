/// The rows in the order of their keys. Indexes are positions in that order: moving one is O(1), the row of one O(log
/// n). They are invalid for a table that has changed since.
extension Table: RandomAccessCollection {
    /// A row with its key.
    public typealias Element = (key: Key, value: Row)

    /// A position in the order of the keys. A distinct type, so that an index cannot be confused with an integer key.
    public struct Index: Hashable, Strideable, Sendable {
        let offset: Int

        /// The number of rows up to another position.
        public func distance(to other: Index) -> Int { other.offset - offset }
        /// The position at a distance.
        public func advanced(by distance: Int) -> Index { Index(offset: offset + distance) }
    }

    /// Iterates over the rows, each in O(1).
    public struct Iterator: IteratorProtocol {
        @usableFromInline var base: Tree.Iterator

        /// The next row.
        @inlinable
        public mutating func next() -> Element? {
            base.next().map { ($0.key, $0.element) }
        }
    }

    /// Iterates over the rows in the order of their keys.
    public func makeIterator() -> Iterator { Iterator(base: tree.makeIterator()) }

    /// The number of rows. O(1).
    public var count: Int { tree.count }
    /// Whether the table has no rows.
    public var isEmpty: Bool { tree.isEmpty }

    /// The position of the row with the least key.
    public var startIndex: Index { Index(offset: 0) }
    /// The position after the row with the greatest key.
    public var endIndex: Index { Index(offset: count) }

    /// The position of a key; `nil` if there is none. O(log n).
    public func index(forKey key: Key) -> Index? {
        let (offset, found) = tree.position(of: key)
        return found ? Index(offset: offset) : nil
    }

    /// The row at a position, and its key. O(log n).
    public subscript(position: Index) -> Element {
        let (key, element) = tree.entry(at: position.offset)
        return (key, element)
    }

    /// Removes the row at a position.
    ///
    /// - Returns: The row and its key.
    @discardableResult
    public mutating func remove(at index: Index) -> Element {
        let (key, element) = tree.remove(at: index.offset)
        return (key, element)
    }
}

// MARK: Ranges

/// The rows of a range of keys, found in O(log n). The bounds need not be keys of the table.
extension Table {
    /// The rows from one key up to another, which is excluded.
    public func rows(in keys: Range<Key>) -> Slice<Table> {
        slice(from: offset(of: keys.lowerBound), to: offset(of: keys.upperBound))
    }

    /// The rows from one key through another.
    public func rows(in keys: ClosedRange<Key>) -> Slice<Table> {
        slice(from: offset(of: keys.lowerBound), to: offset(after: keys.upperBound))
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
        slice(from: 0, to: offset(after: keys.upperBound))
    }

    private func offset(of key: Key) -> Int { tree.position(of: key).offset }

    private func offset(after key: Key) -> Int {
        let (offset, found) = tree.position(of: key)
        return found ? offset + 1 : offset
    }

    /// With an inconsistent order the end may come first; then the slice is empty.
    private func slice(from start: Int, to end: Int) -> Slice<Table> {
        self[Index(offset: start)..<Index(offset: Swift.max(start, end))]
    }
}

// MARK: Views

extension Table {
    /// The keys, in their order.
    public var keys: Keys { Keys(tree: tree) }

    /// The rows without their keys, in the order of the keys. They change in place.
    public var values: Values {
        get { Values(tree: tree) }
        _modify {
            // The view takes the tree out, so that it is the only owner.
            var values = Values(tree: tree)
            tree = Tree()
            defer { tree = values.tree }
            yield &values
        }
    }

    /// The keys of a table.
    public struct Keys: RandomAccessCollection {
        let tree: Tree

        /// Iterates over the keys, each in O(1).
        public struct Iterator: IteratorProtocol {
            @usableFromInline var base: Tree.Iterator

            /// The next key.
            @inlinable
            public mutating func next() -> Key? { base.next()?.key }
        }

        /// Iterates over the keys in their order.
        public func makeIterator() -> Iterator { Iterator(base: tree.makeIterator()) }
        /// The position of the least key.
        public var startIndex: Index { Index(offset: 0) }
        /// The position after the greatest key.
        public var endIndex: Index { Index(offset: tree.count) }
        /// The key at a position. O(log n).
        public subscript(position: Index) -> Key { tree.key(at: position.offset) }
        /// Whether a key exists. O(log n).
        public func contains(_ key: Key) -> Bool { tree.position(of: key).found }
    }

    /// The rows of a table without their keys.
    public struct Values: RandomAccessCollection, MutableCollection {
        var tree: Tree

        /// Iterates over the rows, each in O(1).
        public struct Iterator: IteratorProtocol {
            @usableFromInline var base: Tree.Iterator

            /// The next row.
            @inlinable
            public mutating func next() -> Row? { base.next()?.element }
        }

        /// Iterates over the rows in the order of their keys.
        public func makeIterator() -> Iterator { Iterator(base: tree.makeIterator()) }
        /// The position of the first row.
        public var startIndex: Index { Index(offset: 0) }
        /// The position after the last row.
        public var endIndex: Index { Index(offset: tree.count) }

        /// The row at a position, which changes in place. O(log n).
        public subscript(position: Index) -> Row {
            get { tree[offset: position.offset] }
            _modify { yield &tree[offset: position.offset] }
        }
    }
}

extension Table.Keys: Sendable where Key: Sendable, Row: Sendable {}
extension Table.Values: Sendable where Key: Sendable, Row: Sendable {}

extension Table.Keys: Equatable {
    /// Whether both have the same keys.
    public static func == (left: Self, right: Self) -> Bool {
        left.tree.isEqual(to: right.tree) { _, _ in true }
    }
}
