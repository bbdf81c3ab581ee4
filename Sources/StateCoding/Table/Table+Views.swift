extension Table {
    /// The keys, in their order.
    public var keys: Keys { Keys(tree: tree) }

    /// The rows alone, in the order of their keys. They may be changed in their places.
    public var values: Values {
        get { Values(tree: tree) }
        _modify {
            // Taken out, so that the view is the only owner while it changes.
            var values = Values(tree: tree)
            tree = Tree()
            defer { tree = values.tree }
            yield &values
        }
    }

    /// The keys of a table.
    public struct Keys: RandomAccessCollection {
        let tree: Tree

        /// Goes through the keys, each in O(1).
        public struct Iterator: IteratorProtocol {
            @usableFromInline var base: Tree.Iterator

            /// The next key.
            @inlinable
            public mutating func next() -> Key? { base.next()?.key }
        }

        /// Goes through the keys in their order.
        public func makeIterator() -> Iterator { Iterator(base: tree.makeIterator()) }
        /// The place of the least key.
        public var startIndex: Index { Index(offset: 0) }
        /// The place behind the greatest key.
        public var endIndex: Index { Index(offset: tree.count) }
        /// The next place.
        public func index(after index: Index) -> Index { Index(offset: index.offset + 1) }
        /// The place before.
        public func index(before index: Index) -> Index { Index(offset: index.offset - 1) }
        /// The place so many keys away.
        public func index(_ index: Index, offsetBy distance: Int) -> Index { Index(offset: index.offset + distance) }
        /// How many keys are from one place to another.
        public func distance(from start: Index, to end: Index) -> Int { end.offset - start.offset }
        /// The key at a place. O(log n).
        public subscript(position: Index) -> Key { tree.key(at: position.offset) }
        /// Whether a key is there. O(log n).
        public func contains(_ key: Key) -> Bool { tree.position(of: key).found }
    }

    /// The rows of a table without their keys.
    public struct Values: RandomAccessCollection, MutableCollection {
        var tree: Tree

        /// Goes through the rows, each in O(1).
        public struct Iterator: IteratorProtocol {
            @usableFromInline var base: Tree.Iterator

            /// The next row.
            @inlinable
            public mutating func next() -> Row? { base.next()?.element }
        }

        /// Goes through the rows in the order of their keys.
        public func makeIterator() -> Iterator { Iterator(base: tree.makeIterator()) }
        /// The place of the first row.
        public var startIndex: Index { Index(offset: 0) }
        /// The place behind the last row.
        public var endIndex: Index { Index(offset: tree.count) }
        /// The next place.
        public func index(after index: Index) -> Index { Index(offset: index.offset + 1) }
        /// The place before.
        public func index(before index: Index) -> Index { Index(offset: index.offset - 1) }
        /// The place so many rows away.
        public func index(_ index: Index, offsetBy distance: Int) -> Index { Index(offset: index.offset + distance) }
        /// How many rows are from one place to another.
        public func distance(from start: Index, to end: Index) -> Int { end.offset - start.offset }

        /// The row at a place, which may be changed there. O(log n).
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
