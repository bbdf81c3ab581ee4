/// A `Decoder` that returns the fields of an old value, changed where a patch changes them: the mirror of
/// `FieldCollector`.
///
/// It returns a field directly, patched if it changed, if the requested type is the encoded one. Nested keyed
/// containers have a decoder of their own. All other fields are decoded from the untyped value.
///
/// Of a newtype, it returns the patched content to a request for the type that was encoded, in a single-value
/// container. After any other request, the type is decoded from the untyped value.
final class FieldPatchDecoder: CodingPathNode, Decoder {
    private let fields: FieldCollector
    /// A patch of fields, or of a newtype's content; `nil` if none changes.
    private let patch: PatchItem?
    /// The decoder of the patched untyped value, after a request that needs it.
    private var untyped: ItemDecoder?
    /// The names of the changed fields, and the offsets of their changes. Keys other than texts are no fields.
    // One run at a time uses a decoder, so dynamic exclusivity checks would find nothing.
    @exclusivity(unchecked) private var changed = NameList()
    @exclusivity(unchecked) private var offsets: [Int] = []
    private var misfit: (any Error)?

    init(_ fields: FieldCollector, _ patch: PatchItem?, under key: (any CodingKey)?, in node: CodingPathNode) {
        self.fields = fields
        self.patch = patch
        super.init(under: key, in: node)
        guard let patch, case .fields(let count) = patch.form, !fields.isNewtype else { return }
        changed.reserveCapacity(count)
        offsets.reserveCapacity(count)
        var cursor = patch.content
        for _ in 0..<count {
            if let name = cursor.readText() {
                _ = changed.append(name)
                offsets.append(cursor.offset)
            } else {
                cursor.skip()
            }
            cursor.skip()
        }
    }

    var codingPath: [any CodingKey] { path }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Lets a type decode itself.
    func value<T: Decodable>(of type: T.Type) throws -> T {
        do {
            let result = try T(from: self)
            if let misfit { throw misfit }
            return result
        } catch {
            throw CodingFailure(misfit ?? error, path: path)
        }
    }

    /// Records a mismatch: a type may ignore a field that it cannot decode, but a patch is applied as a whole.
    private func noting<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch {
            note(error)
            throw error
        }
    }

    private func note(_ error: any Error) {
        guard (error as? CodingFailure)?.code == .patchMismatch else { return }
        misfit = misfit ?? error
        // The container of a payload belongs to the same value.
        (parent as? FieldPatchDecoder)?.note(error)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if fields.isNewtype { return try patchedTree().container(keyedBy: type) }
        try checkDepth()
        return KeyedDecodingContainer(FieldPatchContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try patchedTree().unkeyedContainer() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        fields.isNewtype ? self : try patchedTree().singleValueContainer()
    }

    fileprivate func patchedTree() throws -> ItemDecoder {
        if let untyped { return untyped }
        var tree = try fields.tree()
        if let patch { try noting { try patch.apply(to: &tree, at: fields.place) } }
        let decoder = ItemDecoder(ItemCursor(source: DecodingSource(tree), offset: 0), key: key, in: parent ?? self)
        untyped = decoder
        return decoder
    }

    // MARK: Parts

    /// The state of a field.
    private enum Part {
        case absent
        case old(FieldCollector.Content)
        /// A value, or a nested container with a patch of its fields. The result is not null.
        case changed(FieldCollector.Content, PatchItem)
        /// The position of the new value.
        case new(ItemCursor)
    }

    private func part(_ name: String) throws -> Part {
        guard var change = change(name) else {
            return fields.index(of: name).map { .old(fields.contents[$0]) } ?? .absent
        }
        if change.readNull() { return .absent }
        let patch = PatchItem(change)
        if patch.form == .replacement { return .new(patch.content) }
        return try noting {
            guard let index = fields.index(of: name) else {
                throw place(name).failure(.patchMismatch, CodingFailure.absentKey)
            }
            let old = fields.contents[index]
            switch old {
            case .value where !patch.replacesInBetween: return .changed(old, patch)
            case .fields: if case .fields = patch.form { return .changed(old, patch) }
            default: break
            }
            let tree = try tree(of: old, changedBy: patch, at: place(name))
            return .new(ItemCursor(source: DecodingSource(tree), offset: 0))
        }
    }

    private func place(_ name: String) -> CodingPath { CodingPath(node: self, key: DataKey.name(name)) }

    /// The position of the change of a field.
    private func change(_ name: String) -> ItemCursor? {
        guard let patch, let index = changed.index(of: name) else { return nil }
        return ItemCursor(source: patch.content.source, offset: offsets[index])
    }

    /// The names of the fields after the patch.
    var names: [String] {
        let kept = fields.names.filter { change($0)?.isNull != true }
        return kept + changed.names.filter { change($0)?.isNull == false && fields.index(of: $0) == nil }
    }

    func contains(_ name: String) -> Bool {
        guard let part = try? part(name) else { return true }
        if case .absent = part { return false }
        return true
    }

    func isNull(_ name: String) throws -> Bool {
        let part = try part(name)
        if case .absent = part { throw missing(name) }
        return try isNull(part, name)
    }

    private func isNull(_ part: Part, _ name: String) throws -> Bool {
        switch part {
        case .absent, .old(.null): return true
        case .new(let value): return value.isNull
        case .old(.tree(let tree)): return tree.isNull
        case .old(.fields), .changed: return false
        case .old(.value(let value)):
            if let optional = value as? any AnyOptional { return optional.content == nil }
            // All other built-in types are never null.
            return try !(value is any BuiltInEncodable) && encodeTree(value, at: place(name)).isNull
        }
    }

    func decode<T: Decodable>(_ type: T.Type, _ name: String) throws -> T { try decode(type, part(name), name) }

    /// The first two cases, which most fields have, need no metadata of an optional. ``decodeRare(_:_:_:)`` does.
    private func decode<T: Decodable>(_ type: T.Type, _ part: Part, _ name: String) throws -> T {
        func typed<E: Encodable>(_ value: E) -> T { cast(value, to: type) }
        return switch part {
        case .new(var value): try decodeItem(type, &value, under: DataKey.name(name), in: self)
        case .old(.value(let value)) where Swift.type(of: value) == type: typed(value)
        default: try decodeRare(type, part, name)
        }
    }

    @inline(never)
    private func decodeRare<T: Decodable>(_ type: T.Type, _ part: Part, _ name: String) throws -> T {
        switch part {
        case .old(.value(let value)):
            // A missing content could be cast to any other optional.
            if let content = (value as? any AnyOptional)?.content, Swift.type(of: content) == type,
                let content = content as? T
            {
                return content
            }
        case .changed(.value(let value), let patch):
            if let result = try noting({ try changed(value, patch, type, name) }) { return result }
        default: if let nested = fieldPatch(part, name) { return try noting { try nested.value(of: type) } }
        }
        guard let value = try value(of: part, at: place(name)) else { throw missing(name) }
        return try decodeTree(type, from: value, at: place(name))
    }

    /// `nil` if the field is absent, or null and the type has no null of its own.
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ name: String) throws -> T? {
        let part = try part(name)
        switch part {
        case .absent, .old(.null): return nil
        // The usual case.
        case .old(.value(let value)) where Swift.type(of: value) == type: break
        default: if !(type is any AnyOptional.Type), try isNull(part, name) { return nil }
        }
        return try decode(type, part, name)
    }

    /// A nested container, such as an enum's payload.
    func nested<Nested: CodingKey>(_ type: Nested.Type, _ name: String) throws -> KeyedDecodingContainer<Nested> {
        try fieldPatch(part(name), name)?.container(keyedBy: type) ?? tree(name).container(keyedBy: type)
    }

    /// A decoder of a field's tree; of null, if the field is absent.
    func tree(_ name: String) throws -> ItemDecoder {
        let source = DecodingSource(try value(of: part(name), at: place(name)) ?? .null)
        return ItemDecoder(ItemCursor(source: source, offset: 0), key: DataKey.name(name), in: self)
    }

    /// The decoder of a nested container; `nil` for any other field.
    private func fieldPatch(_ part: Part, _ name: String) -> FieldPatchDecoder? {
        switch part {
        case .old(.fields(let nested)): FieldPatchDecoder(nested, nil, under: DataKey.name(name), in: self)
        case .changed(.fields(let nested), let patch):
            FieldPatchDecoder(nested, patch, under: DataKey.name(name), in: self)
        default: nil
        }
    }

    private func value(of part: Part, at place: CodingPath) throws -> Value? {
        switch part {
        case .absent: return nil
        case .new(let value): return value.copy()
        case .old(let content): return try content.tree(at: place)
        case .changed(let content, let patch): return try tree(of: content, changedBy: patch, at: place)
        }
    }

    private func tree(of content: FieldCollector.Content, changedBy patch: PatchItem, at place: CodingPath) throws
        -> Value
    {
        var tree = try content.tree(at: place)
        try noting { try patch.apply(to: &tree, at: place) }
        return tree
    }

    /// The patched value; `nil` if it is of another type.
    private func changed<T: Decodable>(
        _ value: any Encodable,
        _ patch: PatchItem,
        _ type: T.Type,
        _ name: String
    ) throws -> T? {
        if let result = try patch.applied(to: value, as: type, at: place(name)) { return result }
        guard let content = (value as? any AnyOptional)?.content as? any Codable else { return nil }
        return try patch.applied(to: content, as: type, at: place(name))
    }

    private func missing(_ name: String) -> CodingFailure { failure(.missingKey, "missing the key \"\(name)\"") }
}

/// The content of a newtype.
extension FieldPatchDecoder: SingleValueDecodingContainer {
    /// A content whose parts are patched is not null.
    func decodeNil() -> Bool { untyped?.decodeNil() ?? false }

    func decode<T: Decodable>(_ type: T.Type) throws -> T {
        if untyped == nil, let content = fields.newtypeContent, let patch,
            let result = try noting({ try patch.applied(to: content, as: type, at: fields.place) })
        {
            return result
        }
        return try patchedTree().decode(type)
    }
}

/// The keyed container of a `FieldPatchDecoder`.
private struct FieldPatchContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: FieldPatchDecoder

    var codingPath: [any CodingKey] { decoder.path }
    var allKeys: [Key] { decoder.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { decoder.contains(key.component) }
    func decodeNil(forKey key: Key) throws -> Bool { try decoder.isNull(key.component) }

    func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
        try decoder.decode(type, key.component)
    }

    func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
        try decoder.decodeIfPresent(type, key.component)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try decoder.nested(type, key.component)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder.tree(key.component).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder.tree(DataKey.superKey.component) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder.tree(key.component) }
}
