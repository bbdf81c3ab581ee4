internal import HashTreeCollections

/// A type shaped here whose parts can be patched one by one.
protocol PartiallyPatched: Codable {
    /// The value as a patch of its parts makes it, or a sequence of such patches that is gathered.
    func patched(by patch: Patch, at place: Place) throws -> Self
}

extension Optional: PartiallyPatched where Wrapped: Codable {
    func patched(by patch: Patch, at place: Place) throws -> Self {
        guard let self else { throw Patch.misfit("a value whose part can change", "null", at: place) }
        return try patch.applied(to: self, at: place)
    }
}

extension KeyedCollection where Self: KeyedDecodable & PartiallyPatched, Content: Codable {
    func patched(by patch: Patch, at place: Place) throws -> Self {
        let fields: KeyedEntries<Patch.FieldChange>
        switch patch.form {
        case .fields(let changes): fields = changes
        case .sequence: return try patch.appliedToTree(of: self, at: place)
        case .splice, .replace: throw Patch.misfit("an array to splice", "a map of \(count)", at: place)
        }
        let node = try place.open()
        var result = self
        for (key, change) in zip(fields.keys, fields.elements) {
            guard case .change(let patch) = change else {
                // What cannot be a key is not there, and need not be removed.
                if let (key, isExact) = try? Self.key(of: key, at: place), isExact { result[key] = nil }
                continue
            }
            let name = key.summary
            let (key, isExact) = try Self.key(of: key, at: place)
            let place = Place(node: node, key: EntryKey.of(key))
            if !isExact, result[key] != nil {
                throw place.failure(.patchMismatch, "expected the key as \(Key.self) is written, got \(name)")
            }
            try result.update(key) { old in
                if case .replace(let value) = patch.form {
                    return try decodeTree(Content.self, from: value, at: place)
                }
                if let old { return try patch.applied(to: old, at: place) }
                let message = "expected the key to be there, as the patch changes a part of it"
                throw place.failure(.patchMismatch, message)
            }
        }
        return result
    }

    /// The key that a patch names, and whether it is in the form that the map has: others are other keys.
    private static func key(of value: Value, at place: Place) throws -> (Key, isExact: Bool) {
        // The usual keys are what they are. Key is that type, which the compiler cannot know.
        switch value {
        case .text(let text) where Key.self == String.self: return (unsafeBitCast(text, to: Key.self), true)
        case .unsigned(let number) where Key.self == Int.self && number <= UInt64(Int.max):
            return (unsafeBitCast(Int(number), to: Key.self), true)
        default: break
        }
        let key = try DecodingSource.run(value) { source in
            var cursor = ItemCursor(source: source, offset: 0)
            return try readKey(&cursor, at: place)
        }
        return (key, try encodeTree(key, at: place).canonical == value.canonical)
    }
}

extension Dictionary: PartiallyPatched where Key: Codable, Value: Codable {}
extension TreeDictionary: PartiallyPatched where Key: Codable, Value: Codable {}
extension Table: PartiallyPatched where Key: Codable, Row: Codable {}
