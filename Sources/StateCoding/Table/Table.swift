/// The collection for many rows: a dictionary in the order of its keys, whose copies share what they have in common.
///
/// A state that lives on as its old versions, for a patch or an undo, wants its rows in a table: changing a row of a
/// `Dictionary` while a copy of it is alive copies all rows, in a table only a few nodes; and what changed between two
/// versions is found without looking at the rest.
///
/// ```swift
/// var hosts: Table<String, Host> = ["beta": Host(load: 2), "alpha": Host(load: 1)]
/// let before = hosts
/// hosts["alpha"]?.load = 3
/// hosts.keys                        // "alpha", "beta"
/// before["alpha"]?.load             // 1
/// hosts.rows(in: "alpha"..<"b")     // the row of "alpha"
/// ```
///
/// Costs, with n rows:
/// - a copy, `count`, `isEmpty`: O(1);
/// - getting, setting, changing and removing a row by key or by index: O(log n). A row changes in its place, so an array
///   in it is not copied;
/// - going through all rows: O(n), and O(log n) to start at a key;
/// - `==` and the difference of two tables of which one came of the other: O(changed rows · log n); of others: O(n);
/// - making a table of sorted rows: O(n), of others: O(n log n).
///
/// `filter` keeps what the result shares with the table if most rows stay; `mapValues` and `compactMapValues` make a
/// table that shares nothing, so the difference to it looks at all rows.
///
/// `<` and `==` of the keys must agree. Two keys of which none is less are the same key.
public struct Table<Key: Hashable & Comparable, Row> {
    @usableFromInline typealias Tree = SortedTree<AscendingOrder<Key>, Row>

    @usableFromInline var tree: Tree

    init(tree: Tree) {
        self.tree = tree
    }

    /// The empty table; it takes no memory.
    public init() {
        tree = Tree()
    }

    /// The table of rows whose keys must differ; a key that comes twice is a programmer's error and traps.
    public init(uniqueKeysWithValues rows: some Sequence<(Key, Row)>) {
        tree = Tree(rows) { _, _ in
            preconditionFailure(
                "a key comes twice among the rows of a Table; init(_:uniquingKeysWith:) takes such rows"
            )
        }
    }

    /// The table of rows in any order; `combine` makes one row of two that have the same key.
    public init<Failure: Error>(
        _ rows: some Sequence<(Key, Row)>,
        uniquingKeysWith combine: (Row, Row) throws(Failure) -> Row
    ) throws(Failure) {
        tree = try Tree(rows, uniquingKeysWith: combine)
    }

    /// The table of elements grouped by a key, each group in the order of the elements.
    public init<Item, Failure: Error>(
        grouping items: some Sequence<Item>,
        by key: (Item) throws(Failure) -> Key
    ) throws(Failure) where Row == [Item] {
        self.init()
        for item in items { self[try key(item), default: []].append(item) }
    }

    /// The rows of a dictionary.
    public init(_ dictionary: [Key: Row]) {
        self.init(uniqueKeysWithValues: dictionary.map { ($0.key, $0.value) })
    }

    /// A part of a table as one of its own. O(rows of the part).
    public init(_ slice: Slice<Table>) {
        self.init(uniqueKeysWithValues: slice.lazy.map { ($0.key, $0.value) })
    }

    /// The row of a key; `nil` where there is none. Setting `nil` removes the key.
    ///
    /// `table[key]?.field = value` changes the row in its place.
    @inlinable
    public subscript(key: Key) -> Row? {
        get { tree[key] }
        _modify { yield &tree[key] }
    }

    /// The row of a key, or a default one, which is put into the table if it is changed: `table[key, default: 0] += 1`.
    @inlinable
    public subscript(key: Key, default row: @autoclosure () -> Row) -> Row {
        get { tree[key] ?? row() }
        _modify {
            let (offset, found) = tree.position(of: key)
            if found {
                yield &tree[offset: offset]
            } else {
                var new = row()
                defer { tree.insert(key, new) }
                yield &new
            }
        }
    }

    /// Sets the row of a key.
    ///
    /// - Returns: the row that it had.
    @discardableResult
    public mutating func updateValue(_ row: Row, forKey key: Key) -> Row? {
        tree.updateValue(row, forKey: key)
    }

    /// Removes a key.
    ///
    /// - Returns: the row that it had.
    @discardableResult
    public mutating func removeValue(forKey key: Key) -> Row? {
        tree.removeValue(forKey: key)
    }

    /// Removes all rows.
    public mutating func removeAll() {
        tree = Tree()
    }
}

extension Table: Sendable where Key: Sendable, Row: Sendable {}
