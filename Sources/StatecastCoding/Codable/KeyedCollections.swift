/// A collection of values by key: a map in CBOR, with the keys in the order of their encodings.
protocol KeyedCollection: BuiltInEncodable, Collection where Element == (key: Key, value: Content) {
    associatedtype Key: Encodable
    associatedtype Content: Encodable

    subscript(key: Key) -> Content? { get set }

    /// Changes the contents of many keys; see `SortedTree.update(_:change:insert:)`.
    mutating func update(
        _ next: (UnsafeMutablePointer<Key>) throws -> Bool,
        change: (Key, inout Content) throws -> Void,
        insert: (Key) throws -> Content
    ) rethrows
}

extension KeyedCollection {
    func write(to output: EncodingOutput, at place: CodingPath) throws {
        let node = try place.open()
        output.writer.map(count: count)
        let mark = output.mark
        for (key, value) in self {
            try output.beginEntry(key, at: place)
            try encodeItem(value, into: output, under: EntryKey.of(key), in: node)
        }
        guard output.endEntries(from: mark) else {
            throw place.failure(.unencodable, "two keys have one encoding, so one of them would be lost")
        }
    }

    static var partTypes: [Any.Type] { [Key.self, Content.self] }
}

protocol KeyedDecodable: BuiltInDecodable {
    associatedtype Key: Decodable
    associatedtype Content: Decodable

    /// Makes a collection of `count` entries, which come in the order of their encoded keys.
    ///
    /// - Parameter reservation: The number of entries to reserve memory for.
    /// - Returns: `nil` if one key comes twice.
    static func make(_ count: Int, reserving reservation: Int, _ next: () throws -> (Key, Content)) throws -> Self?
}

extension KeyedDecodable {
    static func read(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Self {
        cursor.skipTags()
        guard let count = cursor.readMap() else { throw cursor.mismatch("a map", at: place) }
        let node = try place.open()
        let reservation = cursor.reservation(of: (Key, Content).self, count)
        let result = try make(count, reserving: reservation) {
            let key = try readKey(&cursor, at: place)
            return (key, try decodeItem(Content.self, &cursor, under: EntryKey.of(key), in: node))
        }
        guard let result else { throw place.failure(.duplicateKey, "two keys of the map are one \(Key.self)") }
        return result
    }

    /// Reads a key; of the forms of JSON, also its name: `"5"` for 5. A failure names the place of its collection.
    static func readKey(_ cursor: inout ItemCursor, at place: CodingPath) throws -> Key {
        let start = cursor
        let root = cursor.source.root(place.node.limits)
        do {
            return try decodeItem(Key.self, &cursor, under: nil, in: root)
        } catch {
            cursor = start
            guard let text = cursor.readText(), cursor.source.acceptsJSONForms(),
                let parsed = Value(keyName: text, limits: place.node.limits)
            else {
                throw CodingFailure(error, path: []).inside(place)
            }
            return try decodeTree(Key.self, from: parsed, acceptsJSONForms: true, at: place)
        }
    }
}

extension Dictionary: BuiltInEncodable, KeyedCollection where Key: Encodable, Value: Encodable {
    typealias Content = Value

    mutating func update(
        _ next: (UnsafeMutablePointer<Key>) throws -> Bool,
        change: (Key, inout Value) throws -> Void,
        insert: (Key) throws -> Value
    ) rethrows {
        try withUnsafeTemporaryAllocation(of: Key.self, capacity: 1) { slot in
            guard let slot = slot.baseAddress else { return }
            while try next(slot) {
                let key = slot.move()
                if let index = index(forKey: key) {
                    try change(key, &values[index])
                } else {
                    self[key] = try insert(key)
                }
            }
        }
    }
}

extension Dictionary: BuiltInDecodable, KeyedDecodable where Key: Decodable, Value: Decodable {
    static func make(
        _ count: Int,
        reserving reservation: Int,
        _ next: () throws -> (Key, Value)
    ) throws -> [Key: Value]? {
        var result: [Key: Value] = [:]
        result.reserveCapacity(reservation)
        for _ in 0..<count {
            let (key, value) = try next()
            guard result.updateValue(value, forKey: key) == nil else { return nil }
        }
        return result
    }

    static var sample: [Key: Value] { [:] }
}

// MARK: Tables

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

extension Table: BuiltInEncodable, KeyedCollection where Key: Encodable, Row: Encodable {
    typealias Content = Row

    mutating func update(
        _ next: (UnsafeMutablePointer<Key>) throws -> Bool,
        change: (Key, inout Row) throws -> Void,
        insert: (Key) throws -> Row
    ) rethrows {
        try tree.update(next, change: change, insert: insert)
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
