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
        var keys = EncodedKeys(reserving: count, refusesClasses: output.refusesClasses)
        for (key, _) in self { try keys.append(key, at: place) }
        guard keys.sort() else {
            throw place.failure(.unencodable, "two keys have one encoding, so one of them would be lost")
        }
        output.writer.map(count: count)
        // Going through the collection is cheaper than looking every entry up.
        var next = startIndex
        let places = keys.cameSorted ? [] : Array(indices)
        try keys.forEach { encodedKey, position in
            let (key, value) = self[keys.cameSorted ? next : places[position]]
            output.writer.encoded(encodedKey)
            try encodeItem(value, into: output, under: DataKey.of(key, at: place), in: node)
            if keys.cameSorted { formIndex(after: &next) }
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
    static func make(_ count: Int, _ next: () throws -> (Key, Content)) throws -> Self?
}

extension KeyedDecodable {
    /// Keys that the JSON view turned into text are understood: `"5"` as 5.
    static func read(_ cursor: inout ItemCursor, at place: Place) throws -> Self {
        cursor.skipTags()
        guard let count = cursor.takeMap() else { throw cursor.mismatch("a map", at: place) }
        let node = try place.open()
        let result = try make(count) {
            let key = try readKey(&cursor, at: place)
            return (key, try decodeItem(Content.self, &cursor, under: DataKey.of(key, at: place), in: node))
        }
        guard let result else { throw place.failure(.duplicateKey, "two keys of the map are one \(Key.self)") }
        return result
    }

    private static func readKey(_ cursor: inout ItemCursor, at place: Place) throws -> Key {
        let start = cursor
        do {
            return try decodeItem(Key.self, &cursor, under: place.key, in: place.node)
        } catch {
            cursor = start
            guard let text = cursor.takeText(), let parsed = try? JSON.value(parsing: text) else { throw error }
            return try decodeTree(Key.self, from: parsed, at: place)
        }
    }

    /// The key that a patch names.
    static func key(of value: Value, at place: Place) throws -> Key {
        var cursor = ItemCursor(source: DecodingSource(value), offset: 0)
        return try readKey(&cursor, at: place)
    }

    static func schemaShape(in probe: SchemaProbe) -> SchemaShape {
        .map(probe.shape(of: Key.self), probe.shape(of: Content.self))
    }
}
