/// For coders from elsewhere, the table is written as the dictionary of its rows.
extension Table: Encodable where Key: Encodable, Row: Encodable {
    /// Writes the rows as `Dictionary` does.
    public func encode(to encoder: any Encoder) throws {
        try Dictionary(uniqueKeysWithValues: tree.lazy.map { ($0.key, $0.element) }).encode(to: encoder)
    }
}

extension Table: Decodable where Key: Decodable, Row: Decodable {
    /// Reads rows as `Dictionary` does.
    public init(from decoder: any Decoder) throws {
        self.init(try [Key: Row](from: decoder))
    }
}

extension Table: SelfComparing {}

extension Table: BuiltInEncodable, KeyedCollection, PartwiseDiffable where Key: Encodable, Row: Encodable {
    typealias Content = Row

    mutating func update(
        _ next: (UnsafeMutablePointer<Key>) throws -> Bool,
        change: (Key, inout Row) throws -> Void,
        insert: (Key) throws -> Row
    ) rethrows {
        try tree.update(next, change: change, insert: insert)
    }

    /// Compares only the rows of nodes that the two tables do not share.
    static func writeChange(from old: Table, to new: Table, of part: ChangedPart) throws -> Bool {
        let changes = try EntryChanges<Key, Row>(of: part)
        // Most unchanged rows have the same bytes, and other primitive ones are compared once.
        let areEqual = changes.arePrimitive ? { _, _ in false } : changes.areEqual
        try Tree.differences(from: old.tree, to: new.tree, by: areEqual) { key, before, after in
            if let before, let after {
                try changes.change(key, from: before.pointee, to: after.pointee)
            } else if let after {
                try changes.insert(key, after.pointee)
            } else if let before {
                try changes.remove(key, before.pointee)
            }
        }
        return try changes.finish(from: old.count, to: new.count)
    }
}

extension Table: BuiltInDecodable, KeyedDecodable where Key: Decodable, Row: Decodable {
    typealias Content = Row

    /// Rows come in the order of their encoded keys, which is often not that of the keys.
    static func make(_ count: Int, reserving reservation: Int, _ next: () throws -> (Key, Row)) throws -> Table? {
        var rows: [(Key, Row)] = []
        var isSorted = true
        for _ in 0..<count {
            let row = try next()
            if let last = rows.last, !precedes(last.0, row.0) { isSorted = false }
            rows.append(row)
        }
        if !isSorted {
            rows.sort { precedes($0.0, $1.0) }
            for (row, later) in zip(rows, rows.dropFirst()) where !precedes(row.0, later.0) { return nil }
        }
        var builder = SortedTreeBuilder<AscendingOrder<Key>, Row>(count: count)
        for (key, row) in rows { builder.append(unchecked: key, row) }
        return Table(tree: builder.finish())
    }

    /// The order `<` of two decoded keys.
    ///
    /// Decoded texts are in form C, in which their bytes have this order. To compare strings that are not ASCII, the
    /// standard library normalizes them, and those of a peer may have many marks.
    static func precedes(_ left: Key, _ right: Key) -> Bool {
        guard Key.self == String.self else { return left < right }
        return cast(left, to: String.self).utf8.lexicographicallyPrecedes(cast(right, to: String.self).utf8)
    }

    static var sample: Table { [:] }
}
