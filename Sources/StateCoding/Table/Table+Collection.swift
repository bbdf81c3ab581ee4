/// The rows in the order of their keys. Indexes are places in that order: moving them costs nothing, getting a row by
/// one O(log n). They say nothing about a table that has changed since.
extension Table: RandomAccessCollection {
    /// A row with its key.
    public typealias Element = (key: Key, value: Row)

    /// A place in the order of the keys; not a number, which would be mistaken for a key.
    public struct Index: Hashable, Comparable, Sendable {
        let offset: Int

        /// Whether a place comes first.
        public static func < (left: Index, right: Index) -> Bool { left.offset < right.offset }
    }

    /// Goes through all rows, each in O(1).
    public struct Iterator: IteratorProtocol {
        @usableFromInline var base: Tree.Iterator

        /// The next row.
        @inlinable
        public mutating func next() -> Element? {
            base.next().map { ($0.key, $0.element) }
        }
    }

    /// Goes through the rows in the order of their keys.
    public func makeIterator() -> Iterator { Iterator(base: tree.makeIterator()) }

    /// How many rows there are. O(1).
    public var count: Int { tree.count }
    /// Whether there are no rows.
    public var isEmpty: Bool { tree.isEmpty }

    /// The place of the row with the least key.
    public var startIndex: Index { Index(offset: 0) }
    /// The place behind the row with the greatest key.
    public var endIndex: Index { Index(offset: count) }

    /// The next place.
    public func index(after index: Index) -> Index { Index(offset: index.offset + 1) }
    /// The place before.
    public func index(before index: Index) -> Index { Index(offset: index.offset - 1) }
    /// The place so many rows away.
    public func index(_ index: Index, offsetBy distance: Int) -> Index { Index(offset: index.offset + distance) }
    /// How many rows are from one place to another.
    public func distance(from start: Index, to end: Index) -> Int { end.offset - start.offset }

    /// The place of a key; `nil` if it is not there. O(log n).
    public func index(forKey key: Key) -> Index? {
        let (offset, found) = tree.position(of: key)
        return found ? Index(offset: offset) : nil
    }

    /// The row at a place, and its key. O(log n).
    public subscript(position: Index) -> Element {
        let (key, element) = tree.entry(at: position.offset)
        return (key, element)
    }

    /// Removes the row at a place.
    ///
    /// - Returns: it and its key.
    @discardableResult
    public mutating func remove(at index: Index) -> Element {
        let (key, element) = tree.remove(at: index.offset)
        return (key, element)
    }
}
