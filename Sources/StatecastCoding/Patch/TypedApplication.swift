extension Patch {
    /// Applies the patch to a typed state, through its own `init(from:)`, at a cost that follows the patch: parts that
    /// the patch does not touch are copied from the old state and not decoded. If it does not fit, the state stays as
    /// it was.
    ///
    /// Fields that the type does not know are ignored. A synthesized `init(from:)` first evaluates the default values
    /// of all properties, so a costly default is paid for at each application.
    ///
    /// Costs: a changed struct its fields, a changed `Table` O(log n) for each of its rows, a changed array, dictionary
    /// or set a copy. In a sequence, each part of an array's change moves the elements after it; another part of the
    /// state that a sequence changes is encoded and decoded. ``Patch/composed(with:)`` leaves sequences only at arrays.
    ///
    /// - Throws: `patchMismatch`, with the path where it does not fit, and the errors of decoding the changed parts.
    public func apply<State: Codable>(
        to state: inout State,
        limits: CodingLimits = .standard
    ) throws(CodingFailure) {
        do {
            state = try DecodingSource.run(deterministic: bytes) { source in
                let root = CodingPath(node: source.root(limits), key: nil)
                return try PatchItem(ItemCursor(source: source, offset: 0)).applied(to: state, at: root)
            }
        } catch {
            throw CodingFailure(error, path: [])
        }
    }
}

extension PatchItem {
    /// The patched value of a part of a state.
    func applied<T: Codable>(to old: T, at place: CodingPath) throws -> T {
        switch form {
        case .replacement:
            var cursor = content
            return try decodeItem(T.self, &cursor, under: place.key, in: place.node)
        case .fields(0): return old
        // The type may not accept a replacement within the sequence.
        case .sequence where replacesInBetween: break
        case .fields, .splice, .sequence:
            if let result = try appliedToParts(of: old, at: place) { return result }
        }
        return try appliedToTree(of: old, at: place)
    }

    /// Whether the patch is a sequence with a replacement of the whole value.
    var replacesInBetween: Bool { form == .sequence && parts.contains { $0.form == .replacement } }

    /// The patched value; `nil` if the type does not encode its parts one by one.
    private func appliedToParts<T: Codable>(of old: T, at place: CodingPath) throws -> T? {
        func patched<P: PartiallyPatched>(_ type: P.Type) throws -> T {
            cast(try cast(old, to: type).patched(by: self, at: place), to: T.self)
        }
        if let type = T.self as? any PartiallyPatched.Type { return try patched(type) }
        guard TypeTraits.of(T.self).encodable == nil else { return nil }
        let fields = try FieldCollector(of: old, at: place)
        if !fields.isNewtype {
            guard case .fields = form, fields.isPlain, !fields.hasDoubles else { return nil }
        }
        return try FieldPatchDecoder(fields, self, under: place.key, in: place.node).value(of: T.self)
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
        do throws(CodingFailure) { try self.tree.apply(to: &tree) } catch { throw error.inside(place) }
    }

    /// The patched value of a part, by way of its tree.
    func appliedToTree<T: Decodable>(of old: some Encodable, at place: CodingPath) throws -> T {
        var tree = try encodeTree(old, at: place)
        try apply(to: &tree, at: place)
        return try decodeTree(T.self, from: tree, at: place)
    }
}

// MARK: Collections and optionals

/// A built-in type whose parts can be patched one by one.
protocol PartiallyPatched: Codable {
    /// The value after a patch of its parts, or after a sequence of such patches.
    func patched(by patch: PatchItem, at place: CodingPath) throws -> Self
}

extension Optional: PartiallyPatched where Wrapped: Codable {
    func patched(by patch: PatchItem, at place: CodingPath) throws -> Self {
        guard let self else { throw PatchItem.misfit("a value whose part can change", "null", at: place) }
        return try patch.applied(to: self, at: place)
    }
}

extension KeyedCollection where Self: KeyedDecodable & PartiallyPatched, Content: Codable {
    func patched(by patch: PatchItem, at place: CodingPath) throws -> Self {
        switch patch.form {
        case .fields(let count): return try patched(by: patch.content, count, at: place)
        case .sequence: return try patch.appliedToTree(of: self, at: place)
        case .splice, .replacement:
            throw PatchItem.misfit("an array to splice", "a map of \(self.count)", at: place)
        }
    }

    private func patched(by changes: ItemCursor, _ count: Int, at place: CodingPath) throws -> Self {
        let node = try place.open()
        var (result, cursor, left) = (self, changes, count)
        var (written, isExact) = (changes, true)
        while left > 0 {
            if cursor.isBeforeRemoval {
                var key = cursor
                cursor.skip()
                cursor.skip()
                left -= 1
                // A value that cannot be a key is not in the collection.
                if let key = try? Self.key(&key, isExact: &isExact, at: place), isExact { result[key] = nil }
                continue
            }
            try result.update { key in
                guard left > 0, !cursor.isBeforeRemoval else { return false }
                written = cursor
                key.initialize(to: try Self.key(&cursor, isExact: &isExact, at: place))
                left -= 1
                return true
            } change: { key, content in
                let place = CodingPath(node: node, key: EntryKey.of(key))
                guard isExact else {
                    let message = "expected the key as \(Key.self) is written, got \(written.copy().summary)"
                    throw place.failure(.patchMismatch, message)
                }
                let patch = PatchItem(cursor)
                if patch.form == .replacement {
                    cursor = patch.content
                    content = try decodeItem(Content.self, &cursor, under: place.key, in: node)
                } else {
                    cursor.offset = patch.end
                    content = try patch.applied(to: content, at: place)
                }
            } insert: { key in
                let place = CodingPath(node: node, key: EntryKey.of(key))
                let patch = PatchItem(cursor)
                guard patch.form == .replacement else {
                    throw place.failure(.patchMismatch, CodingFailure.absentKey)
                }
                cursor = patch.content
                return try decodeItem(Content.self, &cursor, under: place.key, in: node)
            }
        }
        return result
    }

    /// Reads the key of a change. It is exact in the form in which the map encodes it: other forms are other keys.
    private static func key(_ cursor: inout ItemCursor, isExact: inout Bool, at place: CodingPath) throws -> Key {
        isExact = true
        if Key.self == Int.self, let number: Int = cursor.readInteger() { return cast(number, to: Key.self) }
        if Key.self == String.self, let text = cursor.readText() { return cast(text, to: Key.self) }
        let written = cursor
        let key = try readKey(&cursor, at: place)
        isExact = try encodeTree(key, at: place).canonical == written.copy()
        return key
    }
}

extension ItemCursor {
    /// Whether the next entry of a patch removes its key.
    fileprivate var isBeforeRemoval: Bool { source[source.end(of: offset)] == 0xF6 }
}

extension Dictionary: PartiallyPatched where Key: Codable, Value: Codable {}
extension Table: PartiallyPatched where Key: Codable, Row: Codable {}

extension Array: PartiallyPatched where Element: Codable {
    func patched(by patch: PatchItem, at place: CodingPath) throws -> [Element] {
        if Element.self == UInt8.self { throw PatchItem.misfit("a map or an array", "\(count) bytes", at: place) }
        let node = try place.open()
        var result = self
        if patch.form == .sequence {
            for part in patch.parts { try result.change(by: part, at: place, node) }
        } else {
            try result.change(by: patch, at: place, node)
        }
        return result
    }

    private mutating func change(by patch: PatchItem, at place: CodingPath, _ node: CodingPathNode) throws {
        var cursor = patch.content
        switch patch.form {
        case .fields(let changes):
            for _ in 0..<changes {
                let written = cursor
                var key = cursor
                cursor.skip()
                guard let index: Int = key.readInteger(), index >= 0, index < count, !cursor.isNull else {
                    let expected = "the element \(written.copy().summary) of an array to change"
                    throw PatchItem.misfit(expected, "an array of \(count)", at: place)
                }
                let change = PatchItem(cursor)
                cursor.offset = change.end
                self[index] = try change.applied(
                    to: self[index],
                    at: CodingPath(node: node, key: DataKey.index(index))
                )
            }
        case .splice:
            guard let offset: Int = cursor.readInteger(), let removed: Int = cursor.readInteger(),
                let inserted = cursor.readArray()
            else { preconditionFailure("a checked splice is none") }
            guard offset + removed <= count else {
                throw PatchItem.misfit("at least \(offset + removed) elements to splice", "\(count)", at: place)
            }
            var elements: [Element] = []
            elements.reserveCapacity(cursor.reservation(of: Element.self, inserted))
            for index in offset..<(offset + inserted) {
                elements.append(try decodeItem(Element.self, &cursor, under: DataKey.index(index), in: node))
            }
            replaceSubrange(offset..<offset + removed, with: elements)
        case .replacement, .sequence: preconditionFailure("a whole value is no patch of parts")
        }
    }
}
