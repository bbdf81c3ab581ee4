/// A collection of values under keys, whatever keeps it: a map in CBOR, with the keys in the order of their encodings.
protocol KeyedCollection: ShapedEncodable, Collection where Element == (key: Key, value: Content) {
    associatedtype Key: Encodable
    associatedtype Content: Encodable

    subscript(key: Key) -> Content? { get set }

    /// Sets what is under a key to what becomes of the old content.
    mutating func update(_ key: Key, _ body: (Content?) throws -> Content) rethrows
}

extension KeyedCollection {
    mutating func update(_ key: Key, _ body: (Content?) throws -> Content) rethrows {
        self[key] = try body(self[key])
    }
}

extension KeyedCollection {
    func write(to output: EncodingOutput, at place: Place) throws {
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

/// The decoding side of `KeyedCollection`.
protocol KeyedDecodable: ShapedDecodable {
    associatedtype Key: Decodable
    associatedtype Content: Decodable

    /// Makes a collection of so many entries, which come in the order of their encoded keys.
    ///
    /// - Returns: `nil` if one key comes twice.
    /// - Parameter reservation: for how many of them to reserve memory.
    static func make(_ count: Int, reserving reservation: Int, _ next: () throws -> (Key, Content)) throws -> Self?
}

extension KeyedDecodable {
    /// Keys that the JSON view turned into text are understood: `"5"` as 5.
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self {
        cursor.skipTags()
        guard let count = cursor.takeMap() else { throw cursor.mismatch("a map", at: place) }
        let node = try place.open()
        let reservation = cursor.reservation(of: (Key, Content).self, count)
        let result = try make(count, reserving: reservation) {
            let key = try readKey(&cursor, at: place)
            return (key, try decodeItem(Content.self, &cursor, under: EntryKey.of(key), in: node))
        }
        guard let result else { throw place.failure(.duplicateKey, "two keys of the map are one \(Key.self)") }
        return result
    }

    /// Reads a key, of which a failure says where its collection is.
    static func readKey(_ cursor: inout ItemCursor, at place: Place) throws -> Key {
        let start = cursor
        // Where the key stands is only found out for an error that stays.
        let root = cursor.source.root(place.node.limits)
        do {
            return try decodeItem(Key.self, &cursor, under: nil, in: root)
        } catch {
            cursor = start
            guard let text = cursor.takeText(), cursor.source.takesOtherForms(),
                let parsed = Value(scalarKeyName: text)
            else {
                throw CodingFailure(error, path: []).inside(place)
            }
            return try decodeTree(Key.self, from: parsed, at: place)
        }
    }

}
