/// A `Decoder` that returns the fields of an old value, changed where a patch changes them: the mirror of
/// `FieldCollector`.
///
/// It returns a field directly, patched if it changed, if the requested type is the encoded one. Nested keyed
/// containers have a decoder of their own. All other fields are decoded from the untyped value.
final class FieldPatchDecoder: CodingPathNode, Decoder {
    private let fields: FieldCollector
    /// A patch of fields; `nil` if none changes.
    private let patch: PatchItem?
    /// The names of the changed fields, and the offsets of their changes. Keys other than texts are no fields.
    // One run at a time uses a decoder, so dynamic exclusivity checks would find nothing.
    @exclusivity(unchecked) private var changed = NameList()
    @exclusivity(unchecked) private var offsets: [Int] = []
    private var misfit: (any Error)?

    init(_ fields: FieldCollector, _ patch: PatchItem?, under key: (any CodingKey)?, in node: CodingPathNode) {
        self.fields = fields
        self.patch = patch
        super.init(under: key, in: node)
        guard let patch, case .fields(let count) = patch.form else { return }
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
    func decode<T: Decodable>(_ type: T.Type) throws -> T {
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
        try checkDepth()
        return KeyedDecodingContainer(FieldPatchContainer<Key>(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try patchedTree().unkeyedContainer() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try patchedTree().singleValueContainer() }

    private func patchedTree() throws -> ItemDecoder {
        var tree = try fields.tree()
        if let patch { try noting { try patch.apply(to: &tree, at: fields.place) } }
        return ItemDecoder(ItemCursor(source: DecodingSource(tree), offset: 0), key: key, in: parent ?? self)
    }

    // MARK: Parts

    /// The state of a field.
    private enum Part {
        case absent
        case old(FieldCollector.Content)
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
        if let index = fields.index(of: name) {
            let old = fields.contents[index]
            // The result may be null, so it has to be known.
            guard patch.replacesInBetween else { return .changed(old, patch) }
            let tree = try tree(of: old, changedBy: patch, at: place(name))
            return .new(ItemCursor(source: DecodingSource(tree), offset: 0))
        }
        return try noting { throw place(name).failure(.patchMismatch, CodingFailure.absentKey) }
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
        switch try part(name) {
        case .absent: throw missing(name)
        case .old(.null): true
        case .old(.value(let value)): try isNull(value, at: place(name))
        case .new(let value): value.isNull
        case .old(.tree(let tree)): tree.isNull
        case .old(.fields), .changed: false
        }
    }

    private func isNull(_ value: any Encodable, at place: CodingPath) throws -> Bool {
        if let optional = value as? any AnyOptional { return optional.content == nil }
        // All other built-in types are never null.
        if value is any BuiltInEncodable { return false }
        return try encodeTree(value, at: place).isNull
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
        case .old(.fields(let nested)): return try fieldPatch(nested, nil, name).decode(type)
        case .changed(.fields(let nested), let patch):
            let patch = try gathered(patch, name)
            if case .fields = patch.form { return try noting { try fieldPatch(nested, patch, name).decode(type) } }
        case .changed(.value(let value), let patch):
            if let result = try noting({ try changed(value, patch, type, name) }) { return result }
        case .absent, .old(.null), .old(.tree), .changed(.null, _), .changed(.tree, _), .new: break
        }
        guard let value = try value(of: part, at: place(name)) else { throw missing(name) }
        return try decodeTree(type, from: value, at: place(name))
    }

    /// `nil` if the field is absent, or null and the type has no null of its own.
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ name: String) throws -> T? {
        let part = try part(name)
        switch part {
        case .absent, .old(.null): return nil
        case .new(let value): if value.isNull, !(type is any AnyOptional.Type) { return nil }
        case .old(.value(let value)) where Swift.type(of: value) != type:
            if !(type is any AnyOptional.Type), try isNull(value, at: place(name)) { return nil }
        case .old(.tree(let tree)): if tree.isNull, !(type is any AnyOptional.Type) { return nil }
        case .old(.value), .old(.fields), .changed: break
        }
        return try decode(type, part, name)
    }

    /// A nested container, such as an enum's payload.
    func nested<Nested: CodingKey>(_ type: Nested.Type, _ name: String) throws -> KeyedDecodingContainer<Nested> {
        switch try part(name) {
        case .old(.fields(let nested)): return try fieldPatch(nested, nil, name).container(keyedBy: type)
        case .changed(.fields(let nested), let patch):
            let patch = try gathered(patch, name)
            guard case .fields = patch.form else { return try tree(name).container(keyedBy: type) }
            return try fieldPatch(nested, patch, name).container(keyedBy: type)
        default: return try tree(name).container(keyedBy: type)
        }
    }

    /// A decoder of a field's tree; of null, if the field is absent.
    func tree(_ name: String) throws -> ItemDecoder {
        let source = DecodingSource(try value(of: part(name), at: place(name)) ?? .null)
        return ItemDecoder(ItemCursor(source: source, offset: 0), key: DataKey.name(name), in: self)
    }

    private func fieldPatch(_ nested: FieldCollector, _ patch: PatchItem?, _ name: String) -> FieldPatchDecoder {
        FieldPatchDecoder(nested, patch, under: DataKey.name(name), in: self)
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

    private func gathered(_ patch: PatchItem, _ name: String) throws -> PatchItem {
        try noting { try patch.gathered(at: place(name)) }
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
