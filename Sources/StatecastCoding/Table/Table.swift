/// The collection for many rows: a dictionary in the order of its keys, whose copies share their unchanged parts.
///
/// Use a table for the rows of a state. Changing a row of a `Dictionary` copies all rows while a copy of the dictionary
/// exists (for a patch or an undo); in a table it copies a few nodes. The difference of two versions is found without
/// comparing the unchanged rows.
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
/// - getting, setting, changing and removing a row by key or by index: O(log n). A row changes in place, so an array in
///   it is not copied;
/// - iterating over all rows: O(n); over those of a range of keys: O(log n) for each;
/// - `==` and the difference of a table and its changed copy: O(changed rows · log n); of others: O(n);
/// - making a table of sorted rows: O(n), of others: O(n log n).
///
/// The result of `filter` shares nodes with the table if most rows stay; `mapValues` makes a table that shares none, so
/// a difference compares all its rows.
///
/// `<` and `==` of the keys must agree. Two keys are the same if neither is less than the other.
public struct Table<Key: Hashable & Comparable, Row> {
    @usableFromInline typealias Tree = SortedTree<AscendingOrder<Key>, Row>

    @usableFromInline var tree: Tree

    init(tree: Tree) {
        self.tree = tree
    }

    /// The empty table, which takes no memory.
    public init() {
        tree = Tree()
    }

    /// The table of rows with distinct keys.
    ///
    /// - Precondition: No key comes twice.
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

    /// The rows of a dictionary.
    public init(_ dictionary: [Key: Row]) {
        self.init(uniqueKeysWithValues: dictionary.map { ($0.key, $0.value) })
    }

    /// A part of a table as a table. O(rows of the part).
    public init(_ slice: Slice<Table>) {
        self.init(uniqueKeysWithValues: slice.lazy.map { ($0.key, $0.value) })
    }

    /// The row of a key; `nil` if there is none. Setting `nil` removes the key.
    ///
    /// `table[key]?.field = value` changes the row in place.
    @inlinable
    public subscript(key: Key) -> Row? {
        get { tree[key] }
        _modify { yield &tree[key] }
    }

    /// The row of a key, or a default one, which is inserted if it is changed: `table[key, default: 0] += 1`.
    @inlinable
    public subscript(key: Key, default row: @autoclosure () -> Row) -> Row {
        get { tree[key] ?? row() }
        _modify {
            if tree.contains(key) {
                let (leaf, index, _) = tree.ownEntry(of: key)
                yield &leaf.payloads[index]
            } else {
                var new = row()
                defer { tree.insert(key, new) }
                yield &new
            }
        }
    }

    /// Sets the row of a key.
    ///
    /// - Returns: The old row.
    @discardableResult
    public mutating func updateValue(_ row: Row, forKey key: Key) -> Row? {
        tree.updateValue(row, forKey: key)
    }

    /// Removes a key.
    ///
    /// - Returns: The old row.
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

extension Table: ExpressibleByDictionaryLiteral {
    /// The table of these rows.
    ///
    /// - Precondition: No key comes twice.
    public init(dictionaryLiteral rows: (Key, Row)...) {
        self.init(uniqueKeysWithValues: rows)
    }
}

extension Table: Equatable where Row: Equatable {
    /// Whether both have the same keys with equal rows. Shared rows are not compared.
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

extension Table: CustomStringConvertible, CustomDebugStringConvertible {
    /// The rows as a dictionary shows them, in the order of their keys: `["alpha": 1, "beta": 2]`.
    public var description: String {
        if isEmpty { return "[:]" }
        let rows = tree.map { "\(String(reflecting: $0.key)): \(String(reflecting: $0.element))" }
        return "[" + rows.joined(separator: ", ") + "]"
    }

    /// As `description`.
    public var debugDescription: String { description }
}

extension Table: CustomReflectable {
    /// The rows, as of a dictionary.
    public var customMirror: Mirror {
        Mirror(self, unlabeledChildren: self, displayStyle: .dictionary)
    }
}
