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

    /// Looks the key up once.
    mutating func update(_ key: Key, _ body: (Row?) throws -> Row) rethrows {
        let (offset, found) = tree.position(of: key)
        if found {
            tree[offset: offset] = try body(tree[offset: offset])
        } else {
            tree.insert(key, try body(nil))
        }
    }

    /// Compares only the rows of nodes that the two tables do not share.
    static func change(from old: Table, to new: Table, at place: CodingPath, path: DigestPath) throws -> Change? {
        var changes = try KeyedChanges<Key, Row>(at: place, path: path)
        try Tree.differences(from: old.tree, to: new.tree, by: changes.areEqual) { key, before, after in
            try changes.add(key, from: before, to: after)
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
