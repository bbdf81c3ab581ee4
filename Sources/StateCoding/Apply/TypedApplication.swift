extension Patch {
    /// Applies the patch to a typed state, through its own `init(from:)`, at a cost that follows the patch: parts that
    /// the patch does not touch are copied from the old state and not decoded. If it does not fit, the state stays as
    /// it was.
    ///
    /// Fields that the type does not know are ignored. A synthesized `init(from:)` first evaluates the default values
    /// of all properties, so a costly default is paid for at each application.
    ///
    /// Costs: a changed struct its fields, a changed `Table` O(log n) for each of its rows, a changed array, dictionary
    /// or set a copy; each once, however many parts of a sequence change it.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit, and the errors of decoding the changed parts.
    public func apply<State: Codable>(
        to state: inout State,
        limits: CodingLimits = .standard
    ) throws(CodingFailure) {
        do { state = try applied(to: state, at: .root(limits)) } catch { throw CodingFailure(error, path: []) }
    }

    /// The patched value of a part of a state.
    func applied<T: Codable>(to old: T, at place: CodingPath) throws -> T {
        let patch = try gathered(at: place)
        switch patch.form {
        case .replace(let value): return try decodeTree(T.self, from: value, at: place)
        case .fields(let fields) where fields.count == 0: return old
        // The type may not accept a replacement within the sequence.
        case .sequence where patch.replacesInBetween: break
        case .fields, .splice, .sequence:
            if let result = try patch.appliedToParts(of: old, at: place) { return result }
        }
        return try patch.appliedToTree(of: old, at: place)
    }

    /// The patched value; `nil` if the type does not encode its parts one by one.
    private func appliedToParts<T: Codable>(of old: T, at place: CodingPath) throws -> T? {
        func patched<P: PartiallyPatched>(_ type: P.Type) throws -> T {
            cast(try cast(old, to: type).patched(by: self, at: place), to: T.self)
        }
        if let type = T.self as? any PartiallyPatched.Type { return try patched(type) }
        guard TypeTraits.of(T.self).encodable == nil else { return nil }
        let fields = try FieldCollector(of: old, at: place)
        if let content = fields.newtypeContent { return try NewtypeDecoder(content, self, at: place).newtype(T.self) }
        guard case .fields(let changes) = form, fields.isPlain, !fields.hasDoubles else { return nil }
        return try FieldPatchDecoder(fields, changes, under: place.key, in: place.node).decode(T.self)
    }

    /// The patched value of a part; `nil` if it is of another type.
    func applied<T>(to old: any Encodable, as type: T.Type, at place: CodingPath) throws -> T? {
        func apply<C: Codable>(_ old: C) throws -> T? {
            C.self == T.self ? cast(try applied(to: old, at: place), to: T.self) : nil
        }
        return try (old as? any Codable).flatMap { try apply($0) }
    }

    /// Applies the patch to the tree of a part.
    func apply(to tree: inout Value, at place: CodingPath) throws(CodingFailure) {
        do throws(CodingFailure) { try apply(to: &tree) } catch { throw error.inside(place) }
    }

    /// The patched value of a part, by way of its tree.
    func appliedToTree<T: Decodable>(of old: some Encodable, at place: CodingPath) throws -> T {
        var tree = try encodeTree(old, at: place)
        try apply(to: &tree, at: place)
        return try decodeTree(T.self, from: tree, at: place)
    }

    static func misfit(_ expected: String, _ came: String, at place: CodingPath) -> CodingFailure {
        place.failure(.patchMismatch, "expected \(expected), got \(came)")
    }
}

// MARK: Collections and optionals

/// A built-in type whose parts can be patched one by one.
protocol PartiallyPatched: Codable {
    /// The value after a patch of its parts, or after a gathered sequence of such patches.
    func patched(by patch: Patch, at place: CodingPath) throws -> Self
}

extension Optional: PartiallyPatched where Wrapped: Codable {
    func patched(by patch: Patch, at place: CodingPath) throws -> Self {
        guard let self else { throw Patch.misfit("a value whose part can change", "null", at: place) }
        return try patch.applied(to: self, at: place)
    }
}

extension KeyedCollection where Self: KeyedDecodable & PartiallyPatched, Content: Codable {
    func patched(by patch: Patch, at place: CodingPath) throws -> Self {
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
                // A value that cannot be a key is not in the collection.
                if let (key, isExact) = try? Self.key(of: key, at: place), isExact { result[key] = nil }
                continue
            }
            let written = key
            let (key, isExact) = try Self.key(of: written, at: place)
            let place = CodingPath(node: node, key: EntryKey.of(key))
            if !isExact, result[key] != nil {
                let name = written.summary
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

    /// The key that a patch names, and whether it has the form in which the map encodes it: other forms are other keys.
    private static func key(of value: Value, at place: CodingPath) throws -> (Key, isExact: Bool) {
        switch value {
        case .text(let text) where Key.self == String.self: return (cast(text, to: Key.self), true)
        case .unsigned(let number) where Key.self == Int.self && number <= UInt64(Int.max):
            return (cast(Int(number), to: Key.self), true)
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
extension Table: PartiallyPatched where Key: Codable, Row: Codable {}

extension Array: PartiallyPatched where Element: Codable {
    func patched(by patch: Patch, at place: CodingPath) throws -> [Element] {
        if Element.self == UInt8.self { throw Patch.misfit("a map or an array", "\(count) bytes", at: place) }
        let node = try place.open()
        // The usual patch of fields needs no bookkeeping.
        guard case .fields(let fields) = patch.form else { return try patched(by: patch.parts, at: place, node) }
        var result = self
        for (key, change) in zip(fields.keys, fields.elements) {
            let (index, patch) = try Self.element(key, change, of: count, at: place)
            let place = CodingPath(node: node, key: DataKey.index(index))
            result[index] = try patch.applied(to: self[index], at: place)
        }
        return result
    }

    private func patched(by parts: [Patch], at place: CodingPath, _ node: CodingPathNode) throws -> [Element] {
        var list = ChunkedElements(self, forSplices: parts.count) { element, waiting throws in
            let place = CodingPath(node: node, key: DataKey.index(waiting.index))
            element = try waiting.patch.applied(to: element, at: place)
        }
        for part in parts {
            switch part.form {
            case .fields(let fields):
                for (key, change) in zip(fields.keys, fields.elements) {
                    let (index, patch) = try Self.element(key, change, of: list.count, at: place)
                    list.change(at: index, by: patch)
                }
            case .splice(let splice):
                guard splice.removedEnd <= list.count else {
                    throw Patch.misfit("at least \(splice.removedEnd) elements to splice", "\(list.count)", at: place)
                }
                let inserted = try splice.inserted.enumerated().map { position, value in
                    let place = CodingPath(node: node, key: DataKey.index(splice.offset + position))
                    return try decodeTree(Element.self, from: value, at: place)
                }
                try list.splice(at: splice.offset, removing: splice.removed, inserting: inserted)
            case .replace, .sequence: preconditionFailure("a whole value is no patch of parts")
            }
        }
        return try list.finish()
    }

    /// The index of the element that a field of a patch changes, and the patch of the element.
    private static func element(
        _ key: StateCoding.Value,
        _ change: Patch.FieldChange,
        of count: Int,
        at place: CodingPath
    ) throws(CodingFailure) -> (index: Int, patch: Patch) {
        do throws(CodingFailure) { return try Patch.element(key, change, of: count) } catch {
            throw error.inside(place)
        }
    }
}
